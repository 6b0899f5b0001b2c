import { exitCodeText } from '../../../cli/help/exit-codes.ts'
import type { DocModel } from '../../model/model.ts'
import { skillName } from '../../model/slug.ts'
import { cutText } from '../../model/tidy-text.ts'
import { markComment } from '../../mark.ts'
import { joinBlocks, titled } from '../../markdown/blocks.ts'
import { frontmatter } from '../../markdown/frontmatter.ts'
import { inline, paragraphs } from '../../markdown/inline.ts'
import { callingSection } from '../../sections/calling.ts'
import { contentSections } from '../../sections/contents.ts'
import { commonCodes, errorSection } from '../../sections/errors.ts'
import { rulesSection } from '../../sections/rules.ts'
import { whenToUse } from '../when-to-use.ts'

const LONGEST_DESCRIPTION = 300

/** How much the page says around its commands: the poorer, the fewer names and texts of the author. */
export type Wealth = {
  readonly description: number
  readonly named: number
  readonly contents: number
  readonly codes: boolean
}

/** `SKILL.md` with these lines in the quick reference and these commands. */
export function skillPage(
  model: DocModel,
  { description, named, contents, codes }: Wealth,
  quick: readonly string[],
  commands: readonly string[],
): string {
  const head = frontmatter({
    name: skillName(model.name),
    description: whenToUse(model, LONGEST_DESCRIPTION),
    metadata: { version: model.version },
  })
  return `${head}\n${joinBlocks([
    model.unmarked ? '' : markComment(model, 'skill'),
    `# ${inline(model.name)}`,
    model.description === undefined ? '' : paragraphs(cutText(model.description, description)),
    titled(2, 'Quick reference', [...quick, callingSection(model)]),
    titled(2, 'Rules', [rulesSection(model, named)]),
    titled(2, 'Commands', commands),
    ...contentSections(model, 2, contents),
    titled(2, 'Errors', [errorSection(codes ? commonCodes(model) : [])]),
    titled(2, 'Exit codes', [`${exitCodeText()}.`]),
  ])}\n`
}
