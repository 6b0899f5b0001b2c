import type { ToolCommand } from '../../cli/command-path.ts'
import type { DocGroup, DocTool } from './model.ts'
import { makeSlugs } from './slug.ts'
import { tidyLine } from './tidy-text.ts'

/** Tools in groups, in the order in which the first of each appears; those that belong nowhere come first. */
export function groupTools(pairs: readonly (readonly [ToolCommand, DocTool])[]): DocGroup[] {
  const groups = new Map<string, DocTool[]>()
  for (const [tool, doc] of pairs) {
    const title = titleOf(tool)
    groups.set(title, [...(groups.get(title) ?? []), doc])
  }
  const slugOf = makeSlugs('index')
  const titles = [...groups.keys()].sort(
    (left, right) => Number(left !== '') - Number(right !== ''),
  )
  return titles.map((title) => ({
    title,
    slug: slugOf(title === '' ? 'general' : title),
    tools: groups.get(title)!,
  }))
}

function titleOf({ tags, path }: ToolCommand): string {
  const tag = tags.map(tidyLine).find((text) => text !== '')
  return tag ?? path.slice(0, -1).join(' ')
}
