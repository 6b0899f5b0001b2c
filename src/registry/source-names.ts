import { lookupKey } from '../define/names.ts'
import type { Source } from './source.ts'

/** Gives each source a name of its own: the second `tools` becomes `tools_2`. */
export function distinctSourceName(): (source: Source) => Source {
  const taken = new Set<string>()
  return (source) => {
    let name = source.name
    for (let count = 2; taken.has(lookupKey(name)); count += 1) name = `${source.name}_${count}`
    taken.add(lookupKey(name))
    return name === source.name ? source : rename(source, name)
  }
}

// Its tools and problems say where they are from; those of programs inside it keep their own name.
function rename(source: Source, name: string): Source {
  return {
    ...source,
    name,
    async load(context) {
      const { tools, problems, ...rest } = await source.load(context)
      const theirs = <T extends { readonly source: string }>(item: T): T =>
        item.source === source.name ? { ...item, source: name } : item
      return {
        ...rest,
        tools: tools.map(theirs),
        ...(problems && { problems: problems.map(theirs) }),
      }
    },
  }
}
