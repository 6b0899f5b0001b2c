import type { ToolsetManifest } from '../../../contract/manifest.ts'
import { isInside } from '../command-path.ts'
import type { ToolCommand } from '../command-path.ts'
import { columns, titled } from './layout.ts'
import type { Page, Row } from './layout.ts'

/** The commands under a path, those of each group under a heading of their own. */
export function commandSections(
  page: Page,
  manifest: ToolsetManifest,
  under: readonly string[] = [],
): string[][] {
  const groups = new Map<string, ToolCommand[]>()
  for (const command of manifest.tools) {
    if (!isInside(command, under)) continue
    const group = command.path.slice(0, -1).join(' ')
    groups.set(group, [...(groups.get(group) ?? []), command])
  }
  const own = under.join(' ')
  const names = [...groups.keys()].sort(
    (left, right) => Number(left !== '' && left !== own) - Number(right !== '' && right !== own),
  )
  return names.map((name) =>
    titled(
      page,
      name === '' ? 'Commands' : `Commands: ${name}`,
      columns(page, groups.get(name)!.map(commandRow)),
    ),
  )
}

function commandRow(command: ToolCommand): Row {
  return {
    term: command.path.join(' '),
    text: command.summary,
    ...(command.annotations.destructive && { warning: '(destructive)' }),
  }
}
