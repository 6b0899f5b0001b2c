import { EXIT_STATUSES } from '../../../contract/exit-statuses.ts'
import type { InjectedFlag } from '../../../define/flags/flag-spec.ts'
import { INJECTED_FLAGS, PROGRAM_FLAGS } from '../../../define/flags/injected.ts'
import { injectedRows } from '../../cli/help/options.ts'
import { bullets, joinBlocks, titled } from '../markdown/blocks.ts'
import { code, inline, paragraphs } from '../markdown/inline.ts'
import type { DocModel } from '../model/model.ts'
import { callingSection } from '../sections/calling.ts'
import { groupTitle } from '../sections/commands.ts'
import { contentSections } from '../sections/contents.ts'
import { allCodes, errorSection } from '../sections/errors.ts'
import { rulesSection } from '../sections/rules.ts'
import { toolLine, toolSection } from '../sections/tool.ts'

/** Everything about a program in one page of Markdown; `mark` is its last line. */
export function referencePage(model: DocModel, mark: string): string {
  return `${joinBlocks([
    `# ${inline(model.name)}`,
    `Version ${inline(model.version)}`,
    model.description === undefined ? '' : paragraphs(model.description),
    titled(2, 'Quick reference', [
      model.single ? '' : bullets(model.tools.map(toolLine)),
      callingSection(model),
    ]),
    titled(2, 'Rules', [rulesSection(model, Infinity)]),
    ...model.groups.map((group) =>
      titled(
        2,
        group.title === '' ? 'Commands' : inline(groupTitle(group)),
        group.tools.map((tool) => toolSection(tool, 3)),
      ),
    ),
    ...contentSections(model, 2),
    titled(2, 'Options of every command', [flagList(INJECTED_FLAGS)]),
    titled(2, 'Options of the program', [flagList(PROGRAM_FLAGS)]),
    titled(2, 'Errors', [errorSection(allCodes())]),
    titled(2, 'Exit codes', [exitTable()]),
    mark,
  ])}\n`
}

function flagList(flags: readonly InjectedFlag[]): string {
  return bullets(
    injectedRows(flags).map(
      ({ term, text, notes = [] }) =>
        `${code(term.trim())}: ${text}${notes.map((note) => ` ${inline(note)}`).join('')}`,
    ),
  )
}

function exitTable(): string {
  return [
    '| status | meaning |',
    '|---|---|',
    ...EXIT_STATUSES.map(({ status, meaning }) => `| ${status} | ${meaning} |`),
  ].join('\n')
}
