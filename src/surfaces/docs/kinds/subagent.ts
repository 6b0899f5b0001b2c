import { exitCodeText } from '../../cli/help/exit-codes.ts'
import { markComment } from '../mark.ts'
import { joinBlocks, titled } from '../markdown/blocks.ts'
import { frontmatter } from '../markdown/frontmatter.ts'
import { bullets } from '../markdown/blocks.ts'
import { code, inline, paragraphs } from '../markdown/inline.ts'
import type { DocGroup, DocModel } from '../model/model.ts'
import { skillName } from '../model/slug.ts'
import { cutText } from '../model/tidy-text.ts'
import { anyCommand, callingSection } from '../sections/calling.ts'
import {
  commandLines,
  commandNames,
  groupCounts,
  groupSections,
  groupTitle,
} from '../sections/commands.ts'
import { commonCodes, errorSection } from '../sections/errors.ts'
import { rulesSection } from '../sections/rules.ts'
import { shortToolSection } from '../sections/tool.ts'
import { firstThatFits } from './fit.ts'
import type { GeneratedFile } from './generated-file.ts'
import { whenToUse } from './when-to-use.ts'

const MOST_BYTES = 8000

/** An agent of Claude Code that works with the program. */
export function writeSubagent(model: DocModel): GeneratedFile[] {
  const title = (group: DocGroup): string => inline(groupTitle(group))
  const text = firstThatFits(
    [
      () =>
        agentPage(
          model,
          2000,
          8,
          groupSections(model, 3, (tool, level) => shortToolSection(tool, level)),
        ),
      () => agentPage(model, 600, 8, commandLines(model, 3)),
      () => agentPage(model, 300, 0, commandLines(model, 3)),
      () => agentPage(model, 300, 0, [commandNames(model, title)]),
      () => agentPage(model, 300, 0, [groupCounts(model, title)]),
      () =>
        agentPage(model, 300, 0, [
          `${model.tools.length} commands: ${code(`${model.name} --help`)} lists them.`,
        ]),
    ],
    MOST_BYTES,
    (version) => version,
  )
  return [{ path: `.claude/agents/${skillName(model.name)}.md`, text }]
}

function agentPage(
  model: DocModel,
  description: number,
  named: number,
  commands: readonly string[],
): string {
  const head = frontmatter({
    name: skillName(model.name),
    description: whenToUse(model, 300),
    tools: 'Bash, Read',
  })
  return `${head}\n${joinBlocks([
    `You work with the command-line program ${code(model.name)} for whoever asks.`,
    model.description === undefined ? '' : paragraphs(cutText(model.description, description)),
    bullets([
      `Find the command that fits, learn its parameters with ${code(`${anyCommand(model)} --schema`)} or ${code('--help')}, and call it. ${code('--describe')} says what it needs and how it fails.`,
      'Do one thing at a time, and look at each answer before the next call.',
      'Answer with what was found or done, the call that did it, and what is left to decide.',
    ]),
    titled(2, 'Calling', [callingSection(model)]),
    titled(2, 'Rules', [rulesSection(model, named)]),
    titled(2, 'Commands', commands),
    titled(2, 'Errors', [
      errorSection(named === 0 ? [] : commonCodes(model)),
      `Exit codes: ${exitCodeText()}.`,
    ]),
    markComment(model, 'subagent'),
  ])}\n`
}
