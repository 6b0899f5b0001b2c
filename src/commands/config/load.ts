import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { RegistryOptions } from '../../workflow/source/options.ts'
import type { LocatedDocument } from '../../contract/documents/document.ts'
import { findFile } from './find-file.ts'
import { CONFIG_SHAPE, SERVERS_SHAPE } from './keys.ts'
import { findMisfit } from '../../contract/documents/shape.ts'
import type { Misfit, Shape } from '../../contract/documents/shape.ts'

/** The flags that say which tools there are. */
export type Surroundings = {
  readonly config?: string
  readonly folder?: readonly string[]
  readonly strict?: boolean
  readonly probeUnsandboxed?: boolean
  readonly cache?: boolean
}

type Where = { readonly cwd: string; readonly env: { readonly [name: string]: string | undefined } }

const LARGEST_FILE = 1024 * 1024
const DEFAULT_FOLDER = 'tools'
const DEFAULT_WORKFLOWS = 'workflows'

/** The options of the registry that the flags and the configuration file ask for. Paths in the file start at the file, those in flags where the caller stands. Throws CONFIG. */
export async function loadOptions(
  given: Surroundings,
  { cwd, env }: Where,
): Promise<RegistryOptions> {
  const file = findFile(cwd, given.config)
  const config = file === undefined ? withoutFile(cwd, given) : await readConfig(file)
  const folders = (given.folder ?? []).map((folder) => checkFolder(resolve(cwd, folder), folder))
  return {
    ...config,
    ...(typeof config.cache === 'string' &&
      file !== undefined && { cache: resolve(dirname(file), config.cache) }),
    cwd: file === undefined ? cwd : dirname(file),
    env,
    ...(folders.length > 0 && { folders: [...(config.folders ?? []), ...folders] }),
    ...(given.strict && { strict: true }),
    ...(given.probeUnsandboxed && { probe: { ...config.probe, unsandboxed: true } }),
    ...(given.cache === false && { cache: false }),
  }
}

/** The options that a file holds, as they stand there. */
export async function readConfig(file: string): Promise<RegistryOptions> {
  const document = await readDocument(file)
  if (document.value === null || document.value === undefined) return {}
  if (isOfOthers(file, document.value)) {
    const mcpServers = document.value['mcpServers']
    await check(file, document, SERVERS_SHAPE, mcpServers, ['mcpServers'])
    return { mcpServers: mcpServers as NonNullable<RegistryOptions['mcpServers']> }
  }
  await check(file, document, CONFIG_SHAPE, document.value, [])
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

function withoutFile(cwd: string, { folder }: Surroundings): RegistryOptions {
  if (folder !== undefined) return {}
  const isThere = (name: string): boolean => existsSync(join(cwd, name))
  return {
    ...(isThere(DEFAULT_FOLDER) && { folders: [DEFAULT_FOLDER] }),
    ...(isThere(DEFAULT_WORKFLOWS) && { workflows: [DEFAULT_WORKFLOWS] }),
  }
}

// A mistyped flag should not look like a folder without tools.
function checkFolder(path: string, given: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path
  throw new ToolError('INVALID_PATH', `folder: there is no folder '${given}'`, {
    field: 'folder',
    suggestion: 'Give a folder that exists',
  })
}

async function readDocument(file: string): Promise<LocatedDocument> {
  const text = readText(file)
  if (file.endsWith('.json'))
    return (await import('../../define/documents/read-json.ts')).readJson(file, text)
  return (await import('../../contract/documents/read-yaml.ts')).readYaml(file, text)
}

function readText(file: string): string {
  const { size } = statSync(file)
  if (size > LARGEST_FILE)
    throw new ToolError(
      'CONFIG',
      `${file} has ${size} bytes; a configuration may have ${LARGEST_FILE}`,
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
function isOfOthers(file: string, value: unknown): value is { readonly mcpServers: unknown } {
  if (!file.endsWith('.json') || basename(file).startsWith('toolable.')) return false
  const ours = CONFIG_SHAPE.is === 'object' ? Object.keys(CONFIG_SHAPE.keys) : []
  return (
    isObject(value) &&
    Object.hasOwn(value, 'mcpServers') &&
    !Object.keys(value).some((key) => key !== 'mcpServers' && ours.includes(key))
  )
}

async function check(
  file: string,
  document: LocatedDocument,
  shape: Shape,
  value: unknown,
  path: Misfit['path'],
): Promise<void> {
  const misfit =
    findMisfit(shape, value, path) ??
    (isObject(value) ? findServerMisfit(path.length > 0 ? value : value['mcpServers']) : undefined)
  if (!misfit) return
  const place = await document.locate(misfit.path)
  throw new ToolError(
    'CONFIG',
    `${file}${place ? `, line ${place.line}, column ${place.column}` : ''}: ${misfit.message}`,
    { details: { file, ...place }, ...(misfit.fix !== undefined && { suggestion: misfit.fix }) },
  )
}

function findServerMisfit(servers: unknown): Misfit | undefined {
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
