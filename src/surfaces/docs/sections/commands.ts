import type { DocGroup, DocModel, DocTool } from '../model/model.ts'
import { bullets, joinBlocks, titled } from '../markdown/blocks.ts'
import { code, inline } from '../markdown/inline.ts'
import { cutText } from '../model/tidy-text.ts'
import { toolLine } from './tool.ts'

const LONGEST_TITLE = 80

/** What a group is called; for the tools that belong nowhere it is a word of ours. */
export function groupTitle({ title }: DocGroup): string {
  return title === '' ? 'General' : cutText(title, LONGEST_TITLE)
}

/** Where to read on about a group or a tool. */
export type ReadOn = {
  readonly ofGroup?: (group: DocGroup) => string
  readonly ofTool?: (tool: DocTool) => string
}

/** One line for each tool, by group. */
export function commandLines(
  { groups }: DocModel,
  level: number,
  { ofGroup, ofTool }: ReadOn = {},
): string[] {
  const alone = groups.length === 1 && groups[0]!.title === ''
  return groups.map((group) => {
    const lines = bullets(
      group.tools.map((tool) => (ofTool ? `${toolLine(tool)} (${ofTool(tool)})` : toolLine(tool))),
    )
    const body = ofGroup ? [ofGroup(group), lines] : [lines]
    return alone ? joinBlocks(body) : titled(level, inline(groupTitle(group)), body)
  })
}

/** The names of the tools, one line for each group. */
export function commandNames({ groups }: DocModel, linkOf: (group: DocGroup) => string): string {
  return bullets(
    groups.map(
      (group) =>
        `${linkOf(group)}: ${group.tools.map(({ command }) => code(command.slice(command.indexOf(' ') + 1))).join(', ')}`,
    ),
  )
}

/** How many tools each group has. */
export function groupCounts({ groups }: DocModel, linkOf: (group: DocGroup) => string): string {
  return bullets(
    groups.map(
      (group) =>
        `${linkOf(group)}: ${group.tools.length === 1 ? '1 command' : `${group.tools.length} commands`}`,
    ),
  )
}

/** The tools of each group under a heading of its own, written by `section`; without headings where there is one group only. */
export function groupSections(
  { groups }: DocModel,
  level: number,
  section: (tool: DocTool, level: number) => string,
): string[] {
  const alone = groups.length === 1 && groups[0]!.title === ''
  return groups.map((group) =>
    alone
      ? joinBlocks(group.tools.map((tool) => section(tool, level)))
      : titled(
          level,
          inline(groupTitle(group)),
          group.tools.map((tool) => section(tool, level + 1)),
        ),
  )
}
