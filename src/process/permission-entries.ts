/**
 * Reads single entries of `filesystem` and `network`. A `PermissionFault` names the key that is
 * wrong; the file and line are added when it is shown.
 */

import { lstatSync } from 'node:fs'
import { dirname, normalize } from 'node:path'
import type { DocumentPosition, KeyPath, LocatedDocument } from '../protocol/documents.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { isPathInside, resolveRealPath } from '../util/files.ts'
import { shorten } from '../util/text.ts'
import { MEBIBYTE } from '../util/units.ts'
import { compact } from '../util/values.ts'
import type { EgressGrant, PathGrant } from './grants.ts'
import { isKernelPath, KERNEL_PATHS } from './safe-paths.ts'

const WORKSPACE_VARIABLE = '${WORKSPACE}'
const MAX_PATH_LENGTH = 4096
const SERVICES_PATH = '/run'
const NAME_FOLDERS = 'Name the folders that the tool needs'

/** Creates a fault about one entry: `'<entry>' <problem>`. */
type CreateFault = (code: FaultCode, problem: string, fix: string) => PermissionFault

function createFaultsFor(shown: string, path: KeyPath): CreateFault {
  return (code, problem, fix) => new PermissionFault(path, `${shown} ${problem}`, fix, code)
}

/**
 * Reads one path. Returns undefined for a path in the workspace, which the tool may use anyway.
 * Throws a PermissionFault for anything but an exact path.
 */
export function readPathGrant(
  text: string,
  workspace: string,
  path: KeyPath,
): PathGrant | undefined {
  const fault = createFaultsFor(quotePath(text), path)
  if (text === '/**') throw fault('PERMISSION', 'is the whole machine', NAME_FOLDERS)
  const tree = text.endsWith('/**')
  const written = tree ? text.slice(0, -3) : text
  checkPathText(text, written, path, fault)
  if (isPathInside(WORKSPACE_VARIABLE, written)) {
    const root = resolveRealPath(workspace) ?? workspace
    const below = written.slice(WORKSPACE_VARIABLE.length)
    checkNoLinks(normalize(root + below), root, tree, fault)
    return undefined
  }
  if (written.includes('${'))
    throw fault(
      'CONFIG',
      'has a variable that means nothing here',
      `Only ${WORKSPACE_VARIABLE} is known, and only at the beginning`,
    )
  if (!written.startsWith('/'))
    throw fault(
      'CONFIG',
      'is not an absolute path',
      `Begin it with / or with ${WORKSPACE_VARIABLE}/`,
    )
  const real = normalize(written).replace(/(?<=.)\/$/, '')
  if (real === '/') throw fault('PERMISSION', 'is the whole machine', NAME_FOLDERS)
  const system = KERNEL_PATHS.find((folder) => isPathInside(folder, real))
  if (system !== undefined)
    throw fault(
      'PERMISSION',
      `lies in ${system}, which is the machine itself`,
      'Leave it out; the tool has its own',
    )
  if (real === SERVICES_PATH)
    throw fault(
      'PERMISSION',
      'holds the services of the machine, which do what they are told',
      'Name the files that the tool needs',
    )
  checkNoLinks(real, '/', tree, fault)
  checkPathKind(real, tree, fault)
  return { path: real, tree }
}

/** Reads a short form such as `read-only`, which grants the caller's working directory. */
export function readCallerFolder(cwd: string, word: string, path: KeyPath): PathGrant {
  const real = resolveRealPath(cwd)
  if (real !== undefined && real !== '/' && !isKernelPath(real)) return { path: real, tree: true }
  throw new PermissionFault(
    path,
    `'${word}' means the folder of the caller, and that is ${real === '/' ? 'the whole machine' : cwd}`,
    'Start it in a folder of its own, or name the places in filesystem.read and filesystem.write',
    'PERMISSION',
  )
}

function checkPathText(text: string, written: string, path: KeyPath, fault: CreateFault): void {
  if (text.length > MAX_PATH_LENGTH)
    throw new PermissionFault(
      path,
      `a path of ${text.length} characters is too long`,
      `A path has ${MAX_PATH_LENGTH} at most`,
    )
  if (/[\u0000-\u001f\u007f]/.test(text))
    throw fault('CONFIG', 'has a NUL or another control character', 'Take it out')
  const bare = written.startsWith(WORKSPACE_VARIABLE)
    ? written.slice(WORKSPACE_VARIABLE.length)
    : written
  if (/[*?[\]]/.test(bare) || /(?<!\$)\{/.test(bare))
    throw fault(
      'CONFIG',
      'is a pattern, which no sandbox can hold',
      'Write a path as it is, or a folder with everything in it: /data/**',
    )
  if (bare.split('/').includes('..'))
    throw fault('PERMISSION', "leads out by '..'", 'Write the path that it leads to')
  if (bare.startsWith('~'))
    throw fault(
      'CONFIG',
      'begins with ~, which is another folder for everybody',
      'Write the whole path',
    )
}

// The target of a link can change after it was accepted.
function checkNoLinks(real: string, root: string, tree: boolean, fault: CreateFault): void {
  for (let at = real; at !== root && isPathInside(root, at); at = dirname(at)) {
    if (!lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) continue
    const target = resolveRealPath(real)
    const fix =
      target === undefined
        ? 'Name the place that the link leads to'
        : `Write ${target}${tree ? '/**' : ''}`
    throw fault('PERMISSION', `leads through the link ${at}`, fix)
  }
}

// A path that does not exist is fine: it cannot be read, and the sandbox creates what may be written.
function checkPathKind(real: string, tree: boolean, fault: CreateFault): void {
  const stats = lstatSync(real, { throwIfNoEntry: false })
  if (!stats) return
  // Reading a socket means talking to the service behind it.
  if (!stats.isDirectory() && !stats.isFile())
    throw fault('PERMISSION', 'is neither a file nor a folder', 'Leave it out')
  if (stats.isDirectory() && !tree)
    throw fault('CONFIG', 'is a folder', `To give everything in it, write ${real}/**`)
  if (tree && !stats.isDirectory()) throw fault('CONFIG', 'is no folder', `Write ${real}`)
}

function quotePath(text: string): string {
  return `'${shorten(text.replace(/[\u0000-\u001f\u007f]/g, '�'), 200)}'`
}

const HOST_LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/
const LOCAL_HOST = /^(localhost|.+\.localhost|127\.0\.0\.1)$/
const METADATA_HOST = /^(169\.254\.\d+\.\d+|metadata|metadata\.google\.internal|instance-data)$/

/** Reads `host:port`. Throws a PermissionFault for anything but exactly one server. */
export function readServerGrant(text: string, path: KeyPath): EgressGrant {
  const fault = createFaultsFor(`'${shorten(text, 200)}'`, path)
  const [, host = '', port = ''] = /^(.*):([^:]*)$/s.exec(text) ?? [undefined, text, '']
  if (text.includes('*'))
    throw fault(
      'PERMISSION',
      'lets the tool talk to more than one server',
      'Name each server: api.example.com:443',
    )
  if (text.includes('/'))
    throw fault('CONFIG', 'is no host:port', `Write ${toServerText(text) ?? 'api.example.com:443'}`)
  if (METADATA_HOST.test(host.toLowerCase()))
    throw fault('PERMISSION', 'tells secrets of the machine to whoever asks', 'Leave it out')
  if (
    host.startsWith('[') ||
    host.includes(':') ||
    (isNumericAddress(host) && !LOCAL_HOST.test(host))
  )
    throw fault(
      'PERMISSION',
      'names an address, and only names can be let through',
      'Write the name of the server: api.example.com:443',
    )
  if (port === '')
    throw fault('CONFIG', 'has no port', `Write ${shorten(host || 'api.example.com', 200)}:443`)
  if (/^\d+-\d+$/.test(port)) throw fault('PERMISSION', 'has a range of ports', 'Name each port')
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535)
    throw fault('CONFIG', `has the port '${port}'`, 'A port is a number from 1 to 65535')
  const name = host.toLowerCase()
  if (name.length > 253 || !name.split('.').every((label) => HOST_LABEL.test(label)))
    throw fault(
      'CONFIG',
      'has no valid host name',
      /[^\u0000-\u007f]/.test(host)
        ? `Write ${toAsciiHost(host)}:${port}`
        : 'Write letters, digits, dots and dashes: api.example.com:443',
    )
  return compact({ host: name, port: Number(port), local: LOCAL_HOST.test(name) || undefined })
}

// `127.1`, `0x7f.1` and `2130706433` are addresses too.
function isNumericAddress(host: string): boolean {
  const last = host.split('.').at(-1)!
  return /^(\d+|0x[0-9a-f]*)$/i.test(last)
}

function toServerText(text: string): string | undefined {
  try {
    const { hostname, port, protocol } = new URL(text)
    const defaultPort = protocol === 'http:' ? 80 : 443
    return hostname === '' ? undefined : `${hostname}:${port || defaultPort}`
  } catch {
    return undefined
  }
}

function toAsciiHost(host: string): string {
  try {
    return new URL(`http://${host}`).hostname
  } catch {
    return 'api.example.com'
  }
}

/** `PERMISSION`: more than any tool may have. `CONFIG`: not understood. */
type FaultCode = 'CONFIG' | 'PERMISSION'

/** Why a manifest or policy is refused, and which of its keys is wrong. */
export class PermissionFault extends Error {
  constructor(
    readonly path: KeyPath,
    message: string,
    readonly fix: string,
    readonly code: FaultCode = 'CONFIG',
  ) {
    super(message)
  }
}

const MAX_MANIFEST_BYTES = MEBIBYTE

/** Adds the file and the line to a fault. `file` is absent for permissions that come from no file. */
export async function toPermissionError(
  { code, path, message, fix }: PermissionFault,
  file: string | undefined,
): Promise<ToolError> {
  const position = await locatePermission(file, path)
  return new ToolError(code, `${formatLocation(file, position)}${message}`, {
    suggestion: fix,
    details: { ...compact({ file }), ...position },
  })
}

/** Finds the line of a permission in its manifest. Returns undefined when that is unknown. */
export async function locatePermission(
  file: string | undefined,
  path: KeyPath,
): Promise<DocumentPosition | undefined> {
  if (file === undefined) return undefined
  const document = await readLocatedDocument(file)
  // A manifest has its resources and secrets beside its permissions, or inside them.
  return (await document?.locate(path)) ?? document?.locate(['permissions', ...path])
}

/** `file:line: `, as far as it is known. */
export function formatLocation(
  file: string | undefined,
  position: DocumentPosition | undefined,
): string {
  return file === undefined ? '' : `${file}${position ? `:${position.line}` : ''}: `
}

// Only used to name a line, so a manifest that became unreadable is no error.
async function readLocatedDocument(file: string): Promise<LocatedDocument | undefined> {
  if (!/\.(ya?ml|json)$/i.test(file)) return undefined
  const [{ readFileSync, statSync }, { readYamlDocument }] = await Promise.all([
    import('node:fs'),
    import('../protocol/yaml.ts'),
  ])
  try {
    return statSync(file).size > MAX_MANIFEST_BYTES
      ? undefined
      : await readYamlDocument(file, readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
