/**
 * Everything about a program on one page of Markdown.
 */

import { listGlobalFlagRows } from '../../cli/help-sections.ts'
import type { GlobalFlag } from '../../define/global-flags.ts'
import { GLOBAL_FLAGS, PROGRAM_FLAGS } from '../../define/global-flags.ts'
import { EXIT_STATUSES } from '../../protocol/exit-statuses.ts'
import {
  formatBullets,
  formatTitled,
  joinBlocks,
  toCode,
  toInline,
  toParagraphs,
} from '../markdown.ts'
import type { DocKind, DocModel, GeneratedFile } from '../model.ts'
import { getMarkComment } from '../model.ts'
import {
  formatCallingSection,
  formatContentSections,
  formatErrorSection,
  formatGroupTitle,
  formatRules,
  formatToolLine,
  formatToolSection,
  listAllCodes,
} from '../sections.ts'

/** One page of reference. */
export const kind: DocKind = { make: ({ model }) => writeReference(model) }

/** One page of reference for people. */
export function writeReference(model: DocModel): GeneratedFile[] {
  return [
    {
      path: `docs/${model.name}.md`,
      text: renderReferencePage(model, getMarkComment(model, 'markdown')),
    },
  ]
}

/** Everything about a program in one page of Markdown; `mark` is its last line. */
export function renderReferencePage(model: DocModel, mark: string): string {
  return `${joinBlocks([
    `# ${toInline(model.name)}`,
    `Version ${toInline(model.version)}`,
    model.description && toParagraphs(model.description),
    formatTitled(2, 'Quick reference', [
      !model.single && formatBullets(model.tools.map(formatToolLine)),
      formatCallingSection(model),
    ]),
    formatTitled(2, 'Rules', [formatRules(model, Infinity)]),
    ...model.groups.map((group) =>
      formatTitled(
        2,
        group.title === '' ? 'Commands' : toInline(formatGroupTitle(group)),
        group.tools.map((tool) => formatToolSection(tool, 3)),
      ),
    ),
    ...formatContentSections(model, 2),
    formatTitled(2, 'Options of every command', [formatFlagList(GLOBAL_FLAGS)]),
    formatTitled(2, 'Options of the program', [formatFlagList(PROGRAM_FLAGS)]),
    formatTitled(2, 'Errors', [formatErrorSection(listAllCodes())]),
    formatTitled(2, 'Exit codes', [formatExitTable()]),
    mark,
  ])}\n`
}

function formatFlagList(flags: readonly GlobalFlag[]): string {
  return formatBullets(
    listGlobalFlagRows(flags).map(
      ({ term, text, notes = [] }) =>
        `${toCode(term.trim())}: ${text}${notes.map((note) => ` ${toInline(note)}`).join('')}`,
    ),
  )
}

function formatExitTable(): string {
  return [
    '| status | meaning |',
    '|---|---|',
    ...EXIT_STATUSES.map(({ status, meaning }) => `| ${status} | ${meaning} |`),
  ].join('\n')
}
