import { formatExitCodes } from '../../cli/help-sections.ts'
import { describeWhenToUse, pickFirstThatFits } from '../fit-text.ts'
import {
  formatBullets,
  formatFrontmatter,
  formatTitled,
  joinBlocks,
  toCode,
  toParagraphs,
  toSkillName,
  truncateText,
} from '../markdown.ts'
import type { DocKind, DocModel, GeneratedFile } from '../model.ts'
import { getMarkComment } from '../model.ts'
import type { CommandVersion } from '../sections.ts'
import {
  formatCallingSection,
  formatErrorSection,
  formatGroupSections,
  formatRules,
  formatShortToolSection,
  getCommandForm,
  listCommandVersions,
  listCommonCodes,
} from '../sections.ts'

const MAX_SUBAGENT_BYTES = 8000

/** A subagent of Claude Code. */
export const kind: DocKind = { make: ({ model }) => writeSubagent(model) }

/** An agent of Claude Code that works with the program. */
export function writeSubagent(model: DocModel): GeneratedFile[] {
  const inShort = (): CommandVersion => ({
    description: 2000,
    named: 8,
    commands: formatGroupSections(model, 3, (tool, level) => formatShortToolSection(tool, level)),
  })
  const versions = [inShort, ...listCommandVersions(model)].map((make) => () => ({
    text: renderAgentPage(model, make()),
  }))
  const { text } = pickFirstThatFits(versions, MAX_SUBAGENT_BYTES)
  return [{ path: `.claude/agents/${toSkillName(model.name)}.md`, text }]
}

function renderAgentPage(
  model: DocModel,
  { description, named, commands }: CommandVersion,
): string {
  const head = formatFrontmatter({
    name: toSkillName(model.name),
    description: describeWhenToUse(model, 300),
    tools: 'Bash, Read',
  })
  return `${head}\n${joinBlocks([
    `You work with the command-line program ${toCode(model.name)} for whoever asks.`,
    model.description && toParagraphs(truncateText(model.description, description)),
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
