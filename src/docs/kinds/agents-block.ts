import { formatExitCodes } from '../../cli/help-sections.ts'
import { pickFirstThatFits } from '../fit-text.ts'
import {
  formatBullets,
  formatTitled,
  joinBlocks,
  toInline,
  toParagraphs,
  truncateText,
} from '../markdown.ts'
import type { DocKind, DocModel, GeneratedFile } from '../model.ts'
import { getBlockMarks } from '../model.ts'
import type { CommandVersion } from '../sections.ts'
import {
  formatErrorSection,
  formatRules,
  formatShortCallingSection,
  listCommandVersions,
} from '../sections.ts'

// It is read at the start of every session, wanted or not.
const MAX_BLOCK_BYTES = 4000

/** The block of AGENTS.md. */
export const kind: DocKind = { make: ({ model }) => writeAgentsBlock(model, 'AGENTS.md') }

/** The same block in CLAUDE.md. */
export const claudeKind: DocKind = { make: ({ model }) => writeAgentsBlock(model, 'CLAUDE.md') }

/**
 * The block of AGENTS.md or CLAUDE.md. It is the same in both, because one of them is often a link
 * to the other.
 */
export function writeAgentsBlock(
  model: DocModel,
  path: 'AGENTS.md' | 'CLAUDE.md',
): GeneratedFile[] {
  const versions = listCommandVersions(model, (line) => formatBullets([line])).map(
    (make) => () => ({ text: renderBlock(model, make()) }),
  )
  const { text } = pickFirstThatFits(versions, MAX_BLOCK_BYTES)
  return [{ path, text, block: true }]
}

function renderBlock(model: DocModel, { description, named, commands }: CommandVersion): string {
  const { begin, end } = getBlockMarks(model.name)
  const tools = (model.only ?? []).map((tool) => ` --tool ${tool}`).join('')
  const body = joinBlocks([
    `<!-- Generated, edits up to the end mark are lost; renew with: ${model.name} docs agents${tools} --write (in CLAUDE.md: docs claude) -->`,
    `## ${toInline(model.name)}`,
    model.description && toParagraphs(truncateText(model.description, description)),
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
