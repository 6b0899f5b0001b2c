import { exitCodeText } from '../../cli/help/exit-codes.ts'
import { blockMarks } from '../mark.ts'
import { bullets, joinBlocks, titled } from '../markdown/blocks.ts'
import { code, inline, paragraphs } from '../markdown/inline.ts'
import type { DocGroup, DocModel } from '../model/model.ts'
import { cutText } from '../model/tidy-text.ts'
import { shortCallingSection } from '../sections/calling.ts'
import { commandLines, commandNames, groupCounts, groupTitle } from '../sections/commands.ts'
import { errorSection } from '../sections/errors.ts'
import { rulesSection } from '../sections/rules.ts'
import { firstThatFits } from './fit.ts'
import type { GeneratedFile } from './generated-file.ts'

// It is read at the start of every session, wanted or not.
const MOST_BYTES = 4000

/** The block of AGENTS.md or CLAUDE.md. It is the same in both, because one of them is often a link to the other. */
export function writeBlock(model: DocModel, path: 'AGENTS.md' | 'CLAUDE.md'): GeneratedFile[] {
  const title = (group: DocGroup): string => inline(groupTitle(group))
  const text = firstThatFits(
    [
      () => block(model, 600, 8, commandLines(model, 3)),
      () => block(model, 300, 0, commandLines(model, 3)),
      () => block(model, 300, 0, [commandNames(model, title)]),
      () => block(model, 300, 0, [groupCounts(model, title)]),
      () =>
        block(model, 300, 0, [
          bullets([`${model.tools.length} commands: ${code(`${model.name} --help`)} lists them.`]),
        ]),
    ],
    MOST_BYTES,
    (version) => version,
  )
  return [{ path, text, block: true }]
}

function block(
  model: DocModel,
  description: number,
  named: number,
  commands: readonly string[],
): string {
  const { begin, end } = blockMarks(model.name)
  const tools = (model.only ?? []).map((tool) => ` --tool ${tool}`).join('')
  const body = joinBlocks([
    `<!-- Generated, edits up to the end mark are lost; renew with: ${model.name} docs agents${tools} --write (in CLAUDE.md: docs claude) -->`,
    `## ${inline(model.name)}`,
    model.description === undefined ? '' : paragraphs(cutText(model.description, description)),
    shortCallingSection(model),
    ...commands,
    titled(3, `Rules of ${inline(model.name)}`, [rulesSection(model, named)]),
    titled(3, `Errors of ${inline(model.name)}`, [
      errorSection(),
      `Exit codes: ${exitCodeText()}.`,
    ]),
  ])
  return `${begin}\n${keepMarksOut(body)}\n${end}\n`
}

// Text of the author stands in code as it is: it must not end the block.
function keepMarksOut(body: string): string {
  return body.replaceAll('<!-- toolable:', '<!-- toolable :')
}
