/**
 * The configuration of a project (toolable.yaml, .mcp.json) and the registry that it describes.
 */

import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { CONFIG_FILE_NAMES } from '../core/project.ts'
import type { ConfigMismatch, ConfigShape } from '../protocol/config-shape.ts'
import {
  ANYTHING_SHAPE,
  COUNT_SHAPE,
  createListShape,
  findConfigMismatch,
  SWITCH_SHAPE,
  TEXT_SHAPE,
  VARIABLES_SHAPE,
} from '../protocol/config-shape.ts'
import type { LocatedDocument } from '../protocol/documents.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { getSourceShapes, SOURCE_TABLE } from '../registry/source-table.ts'
import type { Registry } from '../registry/types.ts'
import { MEBIBYTE } from '../util/units.ts'
import { compact, isObject } from '../util/values.ts'
import type { RegistryOptions } from '../workflow/workflow-types.ts'
import type { CommandContext } from './command.ts'

/** The flags that say which tools there are. */
export type RegistryFlags = {
  readonly config?: string
  readonly folder?: readonly string[]
  readonly strict?: boolean
  readonly probeUnsandboxed?: boolean
  readonly cache?: boolean
}

const MAX_CONFIG_BYTES = MEBIBYTE
const DEFAULT_TOOLS_FOLDER = 'tools'
const DEFAULT_WORKFLOWS_FOLDER = 'workflows'

/**
 * The options of the registry that the flags and the configuration file ask for. Paths in the file
 * start at the file, those in flags where the caller stands. Throws CONFIG.
 */
export async function loadRegistryOptions(
  given: RegistryFlags,
  { cwd, env }: CommandContext,
): Promise<RegistryOptions> {
  const file = findConfigFile(cwd, given.config)
  const config = file === undefined ? getDefaultOptions(cwd, given) : await readConfig(file)
  const root = file === undefined ? cwd : dirname(file)
  const folders = (given.folder ?? []).map((folder) => requireFolder(resolve(cwd, folder), folder))
  const cache = typeof config.cache === 'string' ? resolve(root, config.cache) : config.cache
  return {
    ...config,
    cwd: root,
    env,
    ...compact({
      folders: folders.length > 0 ? [...(config.folders ?? []), ...folders] : undefined,
      strict: given.strict || undefined,
      probe: given.probeUnsandboxed ? { ...config.probe, unsandboxed: true } : undefined,
      cache: given.cache === false ? false : cache,
    }),
  }
}

/** The options that a file holds, as they stand there. */
export async function readConfig(file: string): Promise<RegistryOptions> {
  const document = await readDocument(file)
  if (document.value === null || document.value === undefined) return {}
  if (isForeignConfig(file, document.value)) {
    const mcpServers = document.value['mcpServers']
    await validateConfig(file, document, SOURCE_TABLE.mcpServers.shape, mcpServers, ['mcpServers'])
    return { mcpServers: mcpServers as NonNullable<RegistryOptions['mcpServers']> }
  }
  await validateConfig(file, document, CONFIG_SHAPE, document.value, [])
  const {
    settings: _settings,
    defaults: _defaults,
    ...options
  } = document.value as RegistryOptions & {
    readonly settings?: unknown
    readonly defaults?: unknown
  }
  return options
}

function getDefaultOptions(cwd: string, { folder }: RegistryFlags): RegistryOptions {
  if (folder !== undefined) return {}
  const isThere = (name: string): boolean => existsSync(join(cwd, name))
  return compact({
    folders: isThere(DEFAULT_TOOLS_FOLDER) ? [DEFAULT_TOOLS_FOLDER] : undefined,
    workflows: isThere(DEFAULT_WORKFLOWS_FOLDER) ? [DEFAULT_WORKFLOWS_FOLDER] : undefined,
  })
}

// A mistyped flag should not look like a folder without tools.
function requireFolder(path: string, given: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path
  throw new ToolError('INVALID_PATH', `folder: there is no folder '${given}'`, {
    field: 'folder',
    suggestion: 'Give a folder that exists',
  })
}

async function readDocument(file: string): Promise<LocatedDocument> {
  const text = readConfigText(file)
  if (file.endsWith('.json'))
    return (await import('../protocol/documents.ts')).readJsonDocument(file, text)
  return (await import('../protocol/yaml.ts')).readYamlDocument(file, text)
}

function readConfigText(file: string): string {
  const { size } = statSync(file)
  if (size > MAX_CONFIG_BYTES)
    throw new ToolError(
      'CONFIG',
      `${file} has ${size} bytes; a configuration may have ${MAX_CONFIG_BYTES}`,
    )
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `${file} cannot be read: ${error instanceof TypeError ? 'it is not UTF-8' : ((error as NodeJS.ErrnoException).code ?? 'error')}`,
    )
  }
}

// `.mcp.json` and its kin: only servers, perhaps beside keys of the program that it belongs to.
function isForeignConfig(file: string, value: unknown): value is { readonly mcpServers: unknown } {
  if (!file.endsWith('.json') || basename(file).startsWith('toolable.')) return false
  const ours = CONFIG_SHAPE.is === 'object' ? Object.keys(CONFIG_SHAPE.keys) : []
  return (
    isObject(value) &&
    Object.hasOwn(value, 'mcpServers') &&
    !Object.keys(value).some((key) => key !== 'mcpServers' && ours.includes(key))
  )
}

async function validateConfig(
  file: string,
  document: LocatedDocument,
  shape: ConfigShape,
  value: unknown,
  path: ConfigMismatch['path'],
): Promise<void> {
  const misfit =
    findConfigMismatch(shape, value, path) ??
    (isObject(value) ? findServerMisfit(path.length > 0 ? value : value['mcpServers']) : undefined)
  if (!misfit) return
  const place = await document.locate(misfit.path)
  throw new ToolError(
    'CONFIG',
    `${file}${place ? `, line ${place.line}, column ${place.column}` : ''}: ${misfit.message}`,
    compact({ details: { file, ...place }, suggestion: misfit.fix }),
  )
}

function findServerMisfit(servers: unknown): ConfigMismatch | undefined {
  for (const [name, server] of Object.entries(isObject(servers) ? servers : {})) {
    if (isObject(server) && Object.hasOwn(server, 'command') === Object.hasOwn(server, 'url')) {
      return {
        path: ['mcpServers', name],
        message: `the MCP server '${name}' needs either 'command' (a program) or 'url' (an address)`,
      }
    }
  }
  return undefined
}

/**
 * The configuration file that counts in a folder: the one that was named, else the nearest upwards,
 * else undefined. Throws CONFIG for one that is not there, and for two side by side.
 */
export function findConfigFile(cwd: string, named: string | undefined): string | undefined {
  if (named !== undefined) return requireConfigFile(resolve(cwd, named), named)
  for (let folder = cwd; ; folder = dirname(folder)) {
    const found = CONFIG_FILE_NAMES.filter((name) => existsSync(join(folder, name)))
    if (found.length > 1) throw createTwoFilesError(folder, found)
    if (found[0] !== undefined) return join(folder, found[0])
    if (dirname(folder) === folder) return undefined
  }
}

function requireConfigFile(file: string, named: string): string {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats?.isFile()) return file
  throw new ToolError(
    'CONFIG',
    `the configuration ${named} ${stats ? 'is no file' : 'does not exist'}`,
    {
      field: 'config',
      suggestion: stats?.isDirectory()
        ? `Name the file in it: --config ${join(named, CONFIG_FILE_NAMES[0])}`
        : 'Give a file that exists, or leave --config out to use the nearest toolable.yaml',
    },
  )
}

// Which of two files counts should not depend on a rule to remember.
function createTwoFilesError(folder: string, [first, second]: readonly string[]): ToolError {
  return new ToolError(
    'CONFIG',
    `${join(folder, first!)} and ${join(folder, second!)} are both there, and only one can count`,
    {
      suggestion: `Put everything into one of them and remove the other, or name one: --config ${join(folder, first!)}`,
    },
  )
}

/**
 * What may stand in `toolable.yaml`: the options of `registry()` that are data, and what every
 * program reads there.
 */
const CONFIG_SHAPE: ConfigShape = {
  is: 'object',
  keys: {
    name: TEXT_SHAPE,
    version: TEXT_SHAPE,
    description: TEXT_SHAPE,
    ...getSourceShapes(),
    workflows: createListShape({ path: TEXT_SHAPE, name: TEXT_SHAPE }),
    strict: SWITCH_SHAPE,
    cache: ANYTHING_SHAPE,
    probe: { is: 'object', keys: { unsandboxed: SWITCH_SHAPE, concurrency: COUNT_SHAPE } },
    settings: { is: 'object', keys: { output: TEXT_SHAPE, timeout: ANYTHING_SHAPE } },
    defaults: { is: 'map', of: { is: 'map', of: VARIABLES_SHAPE } },
  },
}

/** Opens the registry that the flags and the configuration ask for, as long as `work` needs it. */
export async function withRegistry<Result>(
  given: RegistryFlags,
  { cwd, env }: CommandContext,
  work: (registry: Registry) => Result | Promise<Result>,
): Promise<Result> {
  const options = await loadRegistryOptions(given, { cwd, env })
  const { openRegistryWithWorkflows } = await import('../workflow/registry.ts')
  const opened = await openRegistryWithWorkflows(options, pickRegistryFlags(given))
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}

/** Those of some flags that say which tools there are. */
export function pickRegistryFlags(given: RegistryFlags): RegistryFlags {
  return splitRegistryFlags(given)[0]
}

/** The flags that say which tools there are, and the others. */
export function splitRegistryFlags<Flags extends RegistryFlags>({
  config,
  folder,
  strict,
  probeUnsandboxed,
  cache,
  ...others
}: Flags): readonly [RegistryFlags, Omit<Flags, keyof RegistryFlags>] {
  return [compact({ config, folder, strict, probeUnsandboxed, cache }), others]
}
