import { formatExitCodes } from '../../cli/help-sections.ts'
import { describeWhenToUse, pickFirstThatFits } from '../fit-text.ts'
import {
  formatBullets,
  formatFrontmatter,
  formatTitled,
  joinBlocks,
  toCode,
  toInline,
  toParagraphs,
  toSkillName,
  truncateText,
} from '../markdown.ts'
import { getMarkComment } from '../model.ts'
import type { DocGroup, DocModel, GeneratedFile } from '../model.ts'
import {
  formatCallingSection,
  formatCommandLines,
  formatCommandNames,
  formatErrorSection,
  formatGroupCounts,
  formatGroupSections,
  formatGroupTitle,
  formatRules,
  formatShortToolSection,
  getCommandForm,
  listCommonCodes,
} from '../sections.ts'

const MAX_SUBAGENT_BYTES = 8000

/** An agent of Claude Code that works with the program. */
export function writeSubagent(model: DocModel): GeneratedFile[] {
  const title = (group: DocGroup): string => toInline(formatGroupTitle(group))
  const text = pickFirstThatFits(
    [
      () =>
        renderAgentPage(
          model,
          2000,
          8,
          formatGroupSections(model, 3, (tool, level) => formatShortToolSection(tool, level)),
        ),
      () => renderAgentPage(model, 600, 8, formatCommandLines(model, 3)),
      () => renderAgentPage(model, 300, 0, formatCommandLines(model, 3)),
      () => renderAgentPage(model, 300, 0, [formatCommandNames(model, title)]),
      () => renderAgentPage(model, 300, 0, [formatGroupCounts(model, title)]),
      () =>
        renderAgentPage(model, 300, 0, [
          `${model.tools.length} commands: ${toCode(`${model.name} --help`)} lists them.`,
        ]),
    ],
    MAX_SUBAGENT_BYTES,
    (version) => version,
  )
  return [{ path: `.claude/agents/${toSkillName(model.name)}.md`, text }]
}

function renderAgentPage(
  model: DocModel,
  description: number,
  named: number,
  commands: readonly string[],
): string {
  const head = formatFrontmatter({
    name: toSkillName(model.name),
    description: describeWhenToUse(model, 300),
    tools: 'Bash, Read',
  })
  return `${head}\n${joinBlocks([
    `You work with the command-line program ${toCode(model.name)} for whoever asks.`,
    model.description === undefined
      ? ''
      : toParagraphs(truncateText(model.description, description)),
    formatBullets([
      `Find the command that fits, learn its parameters with ${toCode(`${getCommandForm(model)} --schema`)} or ${toCode('--help')}, and call it. ${toCode('--describe')} says what it needs and how it fails.`,
      'Do one thing at a time, and look at each answer before the next call.',
      'Answer with what was found or done, the call that did it, and what is left to decide.',
    ]),
    formatTitled(2, 'Calling', [formatCallingSection(model)]),
    formatTitled(2, 'Rules', [formatRules(model, named)]),
    formatTitled(2, 'Commands', commands),
    formatTitled(2, 'Errors', [
      formatErrorSection(named === 0 ? [] : listCommonCodes(model)),
      `Exit codes: ${formatExitCodes()}.`,
    ]),
    getMarkComment(model, 'subagent'),
  ])}\n`
}
