/**
 * The table of sources: which options of `registry()` name them, what each option takes, how it is
 * written in toolable.yaml, and which file opens it.
 *
 * A new source is one file in sources/ that exports `openSource(item, host)`, and one row here. The
 * option's name and type, its shape in the configuration file and its place in the order of strength
 * follow from the row.
 */

import { toLookupKey } from '../core/call.ts'
import type { ConfigShape } from '../protocol/config-shape.ts'
import {
  ANYTHING_SHAPE,
  COUNT_SHAPE,
  createListShape,
  SWITCH_SHAPE,
  TEXT_SHAPE,
  TEXTS_SHAPE,
  VARIABLES_SHAPE,
} from '../protocol/config-shape.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact, isObject } from '../util/values.ts'
import { toFreeName } from './names.ts'
import type { SourceHost, ToolSource } from './source.ts'
import { openSource as openFolder } from './sources/folder.ts'

/** One option of `registry()`: what it takes, and how that becomes sources. */
type SourceRow<Value> = {
  /** Its shape in toolable.yaml. Absent: the option is for code only. */
  readonly shape?: ConfigShape
  /** Throws CONFIG for a value of the wrong kind. */
  open(option: string, value: Value, host: SourceHost): Promise<readonly ToolSource[]>
}

type ConfigurableRow<Value> = SourceRow<Value> & { readonly shape: ConfigShape }

type SourceModule<Item> = {
  /** `name` is the key of a record, and empty for everything else. */
  openSource(item: Item, host: SourceHost, name: string): ToolSource
}

const MCP_SERVER_SHAPE: ConfigShape = {
  is: 'object',
  keys: {
    command: TEXT_SHAPE,
    args: { is: 'list', of: ANYTHING_SHAPE },
    env: VARIABLES_SHAPE,
    cwd: TEXT_SHAPE,
    url: TEXT_SHAPE,
    headers: VARIABLES_SHAPE,
    type: TEXT_SHAPE,
    disabled: SWITCH_SHAPE,
    enabled: SWITCH_SHAPE,
    timeout: ANYTHING_SHAPE,
  },
  // Other programs read the same entries and have keys of their own.
  open: true,
}

/**
 * All sources, the strongest first. Each is loaded only when it is used, except folders, which
 * nearly every registry has.
 */
export const SOURCE_TABLE = {
  /** Tools and toolsets of this process. */
  tools: takeValue(() => import('./sources/in-process.ts')),
  folders: takeList(
    {
      path: TEXT_SHAPE,
      name: TEXT_SHAPE,
      env: VARIABLES_SHAPE,
      help: SWITCH_SHAPE,
      watch: SWITCH_SHAPE,
    },
    async () => ({ openSource: openFolder }),
  ),
  modules: takeList(
    { path: TEXT_SHAPE, name: TEXT_SHAPE, functions: SWITCH_SHAPE },
    () => import('./sources/module.ts'),
  ),
  programs: takeList(
    {
      command: TEXT_SHAPE,
      args: TEXTS_SHAPE,
      name: TEXT_SHAPE,
      env: VARIABLES_SHAPE,
      only: TEXTS_SHAPE,
      depth: COUNT_SHAPE,
    },
    () => import('./sources/program.ts'),
  ),
  mcpServers: takeRecord(
    'servers: { github: { command, args } }',
    MCP_SERVER_SHAPE,
    () => import('./sources/mcp.ts'),
  ),
  toolServers: takeList(
    { url: TEXT_SHAPE, name: TEXT_SHAPE, headers: VARIABLES_SHAPE },
    () => import('./sources/tool-server.ts'),
  ),
  openapi: takeList(
    { document: ANYTHING_SHAPE, name: TEXT_SHAPE, baseUrl: TEXT_SHAPE, headers: VARIABLES_SHAPE },
    () => import('./sources/openapi.ts'),
    'openapi',
  ),
} satisfies { readonly [option: string]: SourceRow<never> }

/** The options of `registry()` that name sources. */
export type SourceOptions = {
  readonly [Option in keyof typeof SOURCE_TABLE]?: (typeof SOURCE_TABLE)[Option] extends SourceRow<
    infer Value
  >
    ? Value
    : never
}

/** The shapes of the options that a configuration file may have. */
export function getSourceShapes(): { readonly [option: string]: ConfigShape } {
  const rows: readonly [string, SourceRow<never>][] = Object.entries(SOURCE_TABLE)
  return Object.fromEntries(rows.flatMap(([option, { shape }]) => (shape ? [[option, shape]] : [])))
}

/** Opens the sources that the options name, in the order of their strength, and then `more`. */
export async function openSources(
  options: SourceOptions,
  host: SourceHost,
  more: readonly ToolSource[],
): Promise<readonly ToolSource[]> {
  const sources: ToolSource[] = []
  for (const [option, row] of Object.entries(SOURCE_TABLE)) {
    const value = options[option as keyof SourceOptions]
    if (value !== undefined) sources.push(...(await row.open(option, value as never, host)))
  }
  return [...sources, ...more].map(createSourceNamer())
}

/** An option with one value, from which one source is made. */
function takeValue<Item>(load: () => Promise<SourceModule<Item>>): SourceRow<Item> {
  return { open: async (_option, item, host) => [(await load()).openSource(item, host, '')] }
}

/**
 * An option with a list of objects. A text is short for an object with only the first of `keys`,
 * which is required; an object with `bareKey` is passed on without that check.
 */
function takeList<Item extends object>(
  keys: { readonly [key: string]: ConfigShape },
  load: () => Promise<SourceModule<Item>>,
  bareKey?: string,
): ConfigurableRow<readonly (string | Item)[]> {
  const key = Object.keys(keys)[0]!
  return {
    shape: createListShape(keys),
    async open(option, items, host) {
      if (!Array.isArray(items))
        throw new ToolError('CONFIG', `'${option}' of registry() takes a list`)
      if (items.length === 0) return []
      const { openSource } = await load()
      return items.map((given: unknown) => {
        const item = typeof given === 'string' ? { [key]: given } : given
        const isBare = isObject(item) && bareKey !== undefined && Object.hasOwn(item, bareKey)
        if (!isBare && (!isObject(item) || item[key] === undefined || item[key] === ''))
          throw new ToolError(
            'CONFIG',
            `'${option}' of registry() takes texts or objects with '${key}'`,
          )
        return openSource(item as Item, host, '')
      })
    },
  }
}

/** An option with objects by name. */
function takeRecord<Item>(
  expected: string,
  shape: ConfigShape,
  load: () => Promise<SourceModule<Item>>,
): ConfigurableRow<{ readonly [name: string]: Item }> {
  return {
    shape: { is: 'map', of: shape },
    async open(option, items, host) {
      if (!isObject(items))
        throw new ToolError('CONFIG', `'${option}' of registry() takes a record of ${expected}`)
      const entries = Object.entries<Item>(items)
      if (entries.length === 0) return []
      const { openSource } = await load()
      return entries.map(([name, item]) => openSource(item, host, name))
    },
  }
}

/** Gives each source its own name: the second `tools` becomes `tools_2`. */
function createSourceNamer(): (source: ToolSource) => ToolSource {
  const taken = new Set<string>()
  return (source) => {
    const name = toFreeName(source.name, (wanted) => taken.has(toLookupKey(wanted)))
    taken.add(toLookupKey(name))
    return name === source.name ? source : renameSource(source, name)
  }
}

// Its tools and problems name their source; those of programs inside it keep their own name.
function renameSource(source: ToolSource, name: string): ToolSource {
  const rename = <T extends { readonly source: string }>(item: T): T =>
    item.source === source.name ? { ...item, source: name } : item
  return {
    ...source,
    name,
    async load(context) {
      const { tools, problems, ...rest } = await source.load(context)
      return compact({ ...rest, tools: tools.map(rename), problems: problems?.map(rename) })
    },
  }
}
