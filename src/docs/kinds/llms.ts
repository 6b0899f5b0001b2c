import { describeWhenToUse } from '../fit-text.ts'
import {
  formatBullets,
  formatTitled,
  joinBlocks,
  tidyLine,
  toInline,
  toParagraph,
  truncateText,
} from '../markdown.ts'
import type { DocKind, DocModel, DocTool, GeneratedFile } from '../model.ts'
import { getMarkComment } from '../model.ts'
import { formatCallingSection, formatGroupTitle } from '../sections.ts'
import { renderReferencePage } from './reference.ts'

const FULL_FILE_NAME = 'llms-full.txt'

/** `llms.txt` and `llms-full.txt`. */
export const kind: DocKind = { make: ({ model }) => writeLlms(model) }

/** `llms.txt` in the form of llmstxt.org, whose links lead into `llms-full.txt`. */
export function writeLlms(model: DocModel): GeneratedFile[] {
  const mark = getMarkComment(model, 'llms')
  const text = `${joinBlocks([
    `# ${toInline(model.name)}`,
    `> ${toParagraph(model.description === undefined ? describeWhenToUse(model, 300) : truncateText(tidyLine(model.description), 600))}`,
    formatCallingSection(model),
    ...model.groups.map((group) =>
      formatTitled(2, group.title === '' ? 'Commands' : toInline(formatGroupTitle(group)), [
        formatBullets(group.tools.map(formatToolLink)),
      ]),
    ),
    formatTitled(2, 'Optional', [
      formatBullets([
        `[Errors](${FULL_FILE_NAME}#errors): every code and what to do about it`,
        `[Exit codes](${FULL_FILE_NAME}#exit-codes): what each exit status means`,
      ]),
    ]),
    mark,
  ])}\n`
  return [
    { path: 'llms.txt', text },
    { path: FULL_FILE_NAME, text: renderReferencePage(model, mark) },
  ]
}

function formatToolLink({ command, summary }: DocTool): string {
  return `[${toInline(command)}](${FULL_FILE_NAME}#${command.replaceAll(' ', '-')}): ${toInline(summary)}`
}
