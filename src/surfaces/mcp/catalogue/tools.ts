import type { Caller } from '../exchange.ts'
import type { McpSource } from '../source.ts'
import { toolForm } from './tool-form.ts'
import type { ToolForm } from './tool-form.ts'

/** The tools as they are listed, described once for each era until they change. */
export type ToolCatalogue = { list(era: Caller['era']): Promise<readonly ToolForm[]> }

export function listTools(source: McpSource): ToolCatalogue {
  const lists = new Map<Caller['era'], Promise<readonly ToolForm[]>>()
  source.onChange(({ kind }) => {
    if (kind === 'tools') lists.clear()
  })
  return {
    list(era) {
      const known = lists.get(era)
      if (known) return known
      const list = Promise.all(source.tools().map((tool) => toolForm(tool, era)))
      lists.set(era, list)
      // A schema that cannot be read now may be mended by the next list.
      list.catch(() => lists.delete(era))
      return list
    },
  }
}
