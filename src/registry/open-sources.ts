import { isObject } from '../contract/json.ts'
import { ToolError } from '../contract/tool-error.ts'
import { distinctSourceName } from './source-names.ts'
import { folderSource } from './sources/folder.ts'
import type { McpServerConfig } from './mcp/settings.ts'
import type { OpenApiOptions, RegistryOptions } from './registry-type.ts'
import type { ChildServices } from './child/services.ts'
import type { Source } from './source.ts'

/** Makes the sources that the options name, in the order of their strength, and gives `more` behind them. Each kind but folders, which most have, is loaded only where it is used. */
export async function openSources(
  options: RegistryOptions,
  services: ChildServices,
  more: readonly Source[],
): Promise<readonly Source[]> {
  const named = distinctSourceName()
  const sources: Source[] = []
  const add = async <Item>(
    option: keyof RegistryOptions,
    items: readonly Item[] | undefined,
    make: () => Promise<(item: Item) => Source>,
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
    async () => (item) => folderSource(asObject('folders', 'path', item), services),
  )
  await add('modules', options.modules, async () => {
    const { moduleSource } = await import('./sources/module.ts')
    return (item) => moduleSource(asObject('modules', 'path', item))
  })
  await add('programs', options.programs, async () => {
    const { programSource } = await import('./sources/program.ts')
    return (item) => programSource(asObject('programs', 'command', item), services)
  })
  await add('mcpServers', serversOf(options.mcpServers), async () => {
    const { mcpSource } = await import('./sources/mcp.ts')
    return ([name, config]) =>
      mcpSource(name, config, {
        ...(options.answer && { answer: options.answer }),
        ...(options.sample && { sample: options.sample }),
      })
  })
  await add('toolServers', options.toolServers, async () => {
    const { toolServerSource } = await import('./sources/tool-server.ts')
    return (item) => toolServerSource(asObject('toolServers', 'url', item))
  })
  await add('openapi', options.openapi, async () => {
    const { openApiSource } = await import('./sources/openapi.ts')
    return (item) =>
      openApiSource(
        isObject(item) && Object.hasOwn(item, 'openapi')
          ? { document: item }
          : asObject('openapi', 'document', item as string | OpenApiOptions),
      )
  })
  return [...sources, ...more.map(named)]
}

function asObject<Key extends string, Item extends { readonly [key in Key]: unknown }>(
  option: string,
  key: Key,
  item: string | Item,
): Item {
  const given = typeof item === 'string' ? ({ [key]: item } as unknown as Item) : item
  if (!isObject(given) || given[key] === undefined || given[key] === '')
    throw new ToolError('CONFIG', `'${option}' of registry() takes texts or objects with '${key}'`)
  return given
}

function serversOf(
  servers: RegistryOptions['mcpServers'],
): readonly (readonly [string, McpServerConfig])[] | undefined {
  if (servers === undefined) return undefined
  if (!isObject(servers))
    throw new ToolError(
      'CONFIG',
      "'mcpServers' of registry() takes a record of servers: { github: { command, args } }",
    )
  return Object.entries(servers)
}
