/**
 * The table of sources. A new source is one file in sources/ and one row here.
 */

import { toLookupKey } from '../core/call.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact, isObject } from '../util/values.ts'
import type { ChildServices } from './child/child-call.ts'
import type { McpServerConfig } from './mcp/transports.ts'
import type { ToolSource } from './source.ts'
import { folderSource } from './sources/folder.ts'
import type { OpenApiOptions, SourceRegistryOptions } from './types.ts'

/**
 * Makes the sources that the options name, in the order of their strength, and gives `more` behind
 * them. Each kind but folders, which most have, is loaded only where it is used.
 */
export async function openSources(
  options: SourceRegistryOptions,
  services: ChildServices,
  more: readonly ToolSource[],
): Promise<readonly ToolSource[]> {
  const named = createSourceNamer()
  const sources: ToolSource[] = []
  const add = async <Item>(
    option: keyof SourceRegistryOptions,
    items: readonly Item[] | undefined,
    make: () => Promise<(item: Item) => ToolSource>,
  ): Promise<void> => {
    if (items === undefined) return
    if (!Array.isArray(items))
      throw new ToolError('CONFIG', `'${option}' of registry() takes a list`)
    if (items.length === 0) return
    const toSource = await make()
    for (const item of items) sources.push(named(toSource(item)))
  }
  if (options.tools !== undefined)
    sources.push(named((await import('./sources/in-process.ts')).inProcessSource(options.tools)))
  await add(
    'folders',
    options.folders,
    async () => (item) => folderSource(toOptionsObject('folders', 'path', item), services),
  )
  await add('modules', options.modules, async () => {
    const { moduleSource } = await import('./sources/module.ts')
    return (item) => moduleSource(toOptionsObject('modules', 'path', item))
  })
  await add('programs', options.programs, async () => {
    const { programSource } = await import('./sources/program.ts')
    return (item) => programSource(toOptionsObject('programs', 'command', item), services)
  })
  await add('mcpServers', listMcpServers(options.mcpServers), async () => {
    const { mcpSource } = await import('./sources/mcp.ts')
    return ([name, config]) =>
      mcpSource(name, config, compact({ answer: options.answer, sample: options.sample }))
  })
  await add('toolServers', options.toolServers, async () => {
    const { toolServerSource } = await import('./sources/tool-server.ts')
    return (item) => toolServerSource(toOptionsObject('toolServers', 'url', item))
  })
  await add('openapi', options.openapi, async () => {
    const { openApiSource } = await import('./sources/openapi.ts')
    return (item) =>
      openApiSource(
        isObject(item) && Object.hasOwn(item, 'openapi')
          ? { document: item }
          : toOptionsObject('openapi', 'document', item as string | OpenApiOptions),
      )
  })
  return [...sources, ...more.map(named)]
}

function toOptionsObject<Key extends string, Item extends { readonly [key in Key]: unknown }>(
  option: string,
  key: Key,
  item: string | Item,
): Item {
  const given = typeof item === 'string' ? ({ [key]: item } as unknown as Item) : item
  if (!isObject(given) || given[key] === undefined || given[key] === '')
    throw new ToolError('CONFIG', `'${option}' of registry() takes texts or objects with '${key}'`)
  return given
}

function listMcpServers(
  servers: SourceRegistryOptions['mcpServers'],
): readonly (readonly [string, McpServerConfig])[] | undefined {
  if (servers === undefined) return undefined
  if (!isObject(servers))
    throw new ToolError(
      'CONFIG',
      "'mcpServers' of registry() takes a record of servers: { github: { command, args } }",
    )
  return Object.entries(servers)
}

/** Gives each source a name of its own: the second `tools` becomes `tools_2`. */
function createSourceNamer(): (source: ToolSource) => ToolSource {
  const taken = new Set<string>()
  return (source) => {
    let name = source.name
    for (let count = 2; taken.has(toLookupKey(name)); count += 1) name = `${source.name}_${count}`
    taken.add(toLookupKey(name))
    return name === source.name ? source : renameSource(source, name)
  }
}

// Its tools and problems say where they are from; those of programs inside it keep their own name.
function renameSource(source: ToolSource, name: string): ToolSource {
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
        ...compact({ problems: problems ? problems.map(theirs) : undefined }),
      }
    },
  }
}
