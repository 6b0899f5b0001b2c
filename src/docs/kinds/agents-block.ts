import { formatExitCodes } from '../../cli/help-sections.ts'
import { pickFirstThatFits } from '../fit-text.ts'
import {
  formatBullets,
  formatTitled,
  joinBlocks,
  toCode,
  toInline,
  toParagraphs,
  truncateText,
} from '../markdown.ts'
import { getBlockMarks } from '../model.ts'
import type { DocGroup, DocModel, GeneratedFile } from '../model.ts'
import {
  formatCommandLines,
  formatCommandNames,
  formatErrorSection,
  formatGroupCounts,
  formatGroupTitle,
  formatRules,
  formatShortCallingSection,
} from '../sections.ts'

// It is read at the start of every session, wanted or not.
const MAX_BLOCK_BYTES = 4000

/**
 * The block of AGENTS.md or CLAUDE.md. It is the same in both, because one of them is often a link
 * to the other.
 */
export function writeAgentsBlock(
  model: DocModel,
  path: 'AGENTS.md' | 'CLAUDE.md',
): GeneratedFile[] {
  const title = (group: DocGroup): string => toInline(formatGroupTitle(group))
  const text = pickFirstThatFits(
    [
      () => renderBlock(model, 600, 8, formatCommandLines(model, 3)),
      () => renderBlock(model, 300, 0, formatCommandLines(model, 3)),
      () => renderBlock(model, 300, 0, [formatCommandNames(model, title)]),
      () => renderBlock(model, 300, 0, [formatGroupCounts(model, title)]),
      () =>
        renderBlock(model, 300, 0, [
          formatBullets([
            `${model.tools.length} commands: ${toCode(`${model.name} --help`)} lists them.`,
          ]),
        ]),
    ],
    MAX_BLOCK_BYTES,
    (version) => version,
  )
  return [{ path, text, block: true }]
}

function renderBlock(
  model: DocModel,
  description: number,
  named: number,
  commands: readonly string[],
): string {
  const { begin, end } = getBlockMarks(model.name)
  const tools = (model.only ?? []).map((tool) => ` --tool ${tool}`).join('')
  const body = joinBlocks([
    `<!-- Generated, edits up to the end mark are lost; renew with: ${model.name} docs agents${tools} --write (in CLAUDE.md: docs claude) -->`,
    `## ${toInline(model.name)}`,
    model.description === undefined
      ? ''
      : toParagraphs(truncateText(model.description, description)),
    formatShortCallingSection(model),
    ...commands,
    formatTitled(3, `Rules of ${toInline(model.name)}`, [formatRules(model, named)]),
    formatTitled(3, `Errors of ${toInline(model.name)}`, [
      formatErrorSection(),
      `Exit codes: ${formatExitCodes()}.`,
    ]),
  ])
  return `${begin}\n${neutralizeMarks(body)}\n${end}\n`
}

// Text of the author stands in code as it is: it must not end the block.
function neutralizeMarks(body: string): string {
  return body.replaceAll('<!-- toolable:', '<!-- toolable :')
}
