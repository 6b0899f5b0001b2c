import { markComment } from '../mark.ts'
import { bullets, joinBlocks, titled } from '../markdown/blocks.ts'
import { inline, paragraph } from '../markdown/inline.ts'
import type { DocModel, DocTool } from '../model/model.ts'
import { cutText, tidyLine } from '../model/tidy-text.ts'
import { callingSection } from '../sections/calling.ts'
import { groupTitle } from '../sections/commands.ts'
import type { GeneratedFile } from './generated-file.ts'
import { referencePage } from './reference.ts'
import { whenToUse } from './when-to-use.ts'

const FULL = 'llms-full.txt'

/** `llms.txt` in the form of llmstxt.org, whose links lead into `llms-full.txt`. */
export function writeLlms(model: DocModel): GeneratedFile[] {
  const mark = markComment(model, 'llms')
  const text = `${joinBlocks([
    `# ${inline(model.name)}`,
    `> ${paragraph(model.description === undefined ? whenToUse(model, 300) : cutText(tidyLine(model.description), 600))}`,
    callingSection(model),
    ...model.groups.map((group) =>
      titled(2, group.title === '' ? 'Commands' : inline(groupTitle(group)), [
        bullets(group.tools.map(linkLine)),
      ]),
    ),
    titled(2, 'Optional', [
      bullets([
        `[Errors](${FULL}#errors): every code and what to do about it`,
        `[Exit codes](${FULL}#exit-codes): what each exit status means`,
      ]),
    ]),
    mark,
  ])}\n`
  return [
    { path: 'llms.txt', text },
    { path: FULL, text: referencePage(model, mark) },
  ]
}

function linkLine({ command, summary }: DocTool): string {
  return `[${inline(command)}](${FULL}#${command.replaceAll(' ', '-')}): ${inline(summary)}`
}
