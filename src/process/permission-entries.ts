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

const WORKSPACE_VARIABLE = '${WORKSPACE}'
const MAX_PATH_LENGTH = 4096

/** Through these a tool would see or change the machine itself. */
const SYSTEM_PATHS = ['/proc', '/sys', '/dev']
const SERVICES_PATH = '/run'

/**
 * What a place means: `undefined` where it lies in the workspace, which belongs to the tool anyway.
 * Throws a Fault for what is no exact place.
 */
export function readPathGrant(
  text: string,
  workspace: string,
  path: KeyPath,
): PathGrant | undefined {
  const { written, tree } = splitTreeSuffix(text, path)
  checkPathText(text, written, path)
  if (isBelow(written, WORKSPACE_VARIABLE)) {
    checkNoLinks(
      normalize(
        (resolveRealPath(workspace) ?? workspace) + written.slice(WORKSPACE_VARIABLE.length),
      ),
      resolveRealPath(workspace) ?? workspace,
      text,
      path,
    )
    return undefined
  }
  if (written.includes('${'))
    throw new PermissionFault(
      'CONFIG',
      path,
      `${quotePath(text)} has a variable that means nothing here`,
      `Only ${WORKSPACE_VARIABLE} is known, and only at the beginning`,
    )
  if (!written.startsWith('/'))
    throw new PermissionFault(
      'CONFIG',
      path,
      `${quotePath(text)} is not an absolute path`,
      `Begin it with / or with ${WORKSPACE_VARIABLE}/`,
    )
  const real = normalize(written).replace(/(?<=.)\/$/, '')
  if (real === '/')
    throw new PermissionFault(
      'PERMISSION',
      path,
      `${quotePath(text)} is the whole machine`,
      'Name the folders that the tool needs',
    )
  const system = SYSTEM_PATHS.find((place) => isPathInside(place, real))
  if (system !== undefined)
    throw new PermissionFault(
      'PERMISSION',
      path,
      `${quotePath(text)} lies in ${system}, which is the machine itself`,
      'Leave it out; the tool has its own',
    )
  if (real === SERVICES_PATH)
    throw new PermissionFault(
      'PERMISSION',
      path,
      `${quotePath(text)} holds the services of the machine, which do what they are told`,
      'Name the files that the tool needs',
    )
  checkNoLinks(real, '/', text, path)
  checkPathKind(real, tree, text, path)
  return { path: real, tree }
}

/** What a whole folder means that the caller stands in, for the short forms. */
export function readCallerFolder(cwd: string, word: string, path: KeyPath): PathGrant {
  const real = resolveRealPath(cwd)
  if (
    real === undefined ||
    real === '/' ||
    SYSTEM_PATHS.some((place) => isPathInside(place, real))
  ) {
    throw new PermissionFault(
      'PERMISSION',
      path,
      `'${word}' means the folder of the caller, and that is ${real === '/' ? 'the whole machine' : cwd}`,
      'Start it in a folder of its own, or name the places in filesystem.read and filesystem.write',
    )
  }
  return { path: real, tree: true }
}

function splitTreeSuffix(
  text: string,
  path: KeyPath,
): { readonly written: string; readonly tree: boolean } {
  if (text === '/**')
    throw new PermissionFault(
      'PERMISSION',
      path,
      "'/**' is the whole machine",
      'Name the folders that the tool needs',
    )
  return text.endsWith('/**')
    ? { written: text.slice(0, -3), tree: true }
    : { written: text, tree: false }
}

function checkPathText(text: string, written: string, path: KeyPath): void {
  if (text.length > MAX_PATH_LENGTH)
    throw new PermissionFault(
      'CONFIG',
      path,
      `a path of ${text.length} characters is too long`,
      `A path has ${MAX_PATH_LENGTH} at most`,
    )
  if (/[\u0000-\u001f\u007f]/.test(text))
    throw new PermissionFault(
      'CONFIG',
      path,
      `${quotePath(text)} has a NUL or another control character`,
      'Take it out',
    )
  const bare = written.startsWith(WORKSPACE_VARIABLE)
    ? written.slice(WORKSPACE_VARIABLE.length)
    : written
  if (/[*?[\]]/.test(bare) || /(?<!\$)\{/.test(bare))
    throw new PermissionFault(
      'CONFIG',
      path,
      `${quotePath(text)} is a pattern, which no sandbox can hold`,
      'Write a path as it is, or a folder with everything in it: /data/**',
    )
  if (bare.split('/').includes('..'))
    throw new PermissionFault(
      'PERMISSION',
      path,
      `${quotePath(text)} leads out by '..'`,
      'Write the path that it leads to',
    )
  if (bare.startsWith('~'))
    throw new PermissionFault(
      'CONFIG',
      path,
      `${quotePath(text)} begins with ~, which is another folder for everybody`,
      'Write the whole path',
    )
}

// A link can be turned to anywhere after its target was accepted.
function checkNoLinks(real: string, root: string, text: string, path: KeyPath): void {
  for (let at = real; at !== root && isPathInside(root, at); at = dirname(at)) {
    if (!lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) continue
    const leads = resolveRealPath(real)
    throw new PermissionFault(
      'PERMISSION',
      path,
      `${quotePath(text)} leads through the link ${at}`,
      leads === undefined
        ? 'Name the place that the link leads to'
        : `Write ${leads}${text.endsWith('/**') ? '/**' : ''}`,
    )
  }
}

// What is not there cannot be read, which harms nobody, and where it may be written the sandbox
// makes it.
function checkPathKind(real: string, tree: boolean, text: string, path: KeyPath): void {
  const stats = lstatSync(real, { throwIfNoEntry: false })
  // Who may read a socket may talk to whoever listens there.
  if (stats && !stats.isDirectory() && !stats.isFile())
    throw new PermissionFault(
      'PERMISSION',
      path,
      `${quotePath(text)} is neither a file nor a folder`,
      'Leave it out',
    )
  if (stats?.isDirectory() && !tree)
    throw new PermissionFault(
      'CONFIG',
      path,
      `${quotePath(text)} is a folder`,
      `To give everything in it, write ${real}/**`,
    )
  if (stats && tree && !stats.isDirectory())
    throw new PermissionFault('CONFIG', path, `${quotePath(text)} is no folder`, `Write ${real}`)
}

function isBelow(written: string, folder: string): boolean {
  return written === folder || written.startsWith(`${folder}/`)
}

function quotePath(text: string): string {
  return `'${shorten(text.replace(/[\u0000-\u001f\u007f]/g, '�'), 200)}'`
}

const HOST_LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/
const LOCAL_HOST = /^(localhost|.+\.localhost|127\.0\.0\.1)$/
const METADATA_HOST = /^(169\.254\.\d+\.\d+|metadata|metadata\.google\.internal|instance-data)$/

/**
 * The server that `host:port` means. Throws a Fault for everything that is not exactly one server.
 */
export function readServerGrant(text: string, path: KeyPath): EgressGrant {
  const given = shorten(text, 200)
  const [, host = '', port = ''] = /^(.*):([^:]*)$/s.exec(text) ?? [undefined, text, '']
  if (text.includes('*'))
    throw new PermissionFault(
      'PERMISSION',
      path,
      `'${given}' lets the tool talk to more than one server`,
      'Name each server: api.example.com:443',
    )
  if (text.includes('/'))
    throw new PermissionFault(
      'CONFIG',
      path,
      `'${given}' is no host:port`,
      `Write ${toServerText(text) ?? 'api.example.com:443'}`,
    )
  if (METADATA_HOST.test(host.toLowerCase()))
    throw new PermissionFault(
      'PERMISSION',
      path,
      `'${given}' tells secrets of the machine to whoever asks`,
      'Leave it out',
    )
  if (
    host.startsWith('[') ||
    host.includes(':') ||
    (isNumericAddress(host) && !LOCAL_HOST.test(host))
  )
    throw new PermissionFault(
      'PERMISSION',
      path,
      `'${given}' names an address, and only names can be let through`,
      'Write the name of the server: api.example.com:443',
    )
  if (port === '')
    throw new PermissionFault(
      'CONFIG',
      path,
      `'${given}' has no port`,
      `Write ${host === '' ? 'api.example.com' : shorten(host, 200)}:443`,
    )
  if (/^\d+-\d+$/.test(port))
    throw new PermissionFault(
      'PERMISSION',
      path,
      `'${given}' has a range of ports`,
      'Name each port',
    )
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535)
    throw new PermissionFault(
      'CONFIG',
      path,
      `'${given}' has the port '${port}'`,
      'A port is a number from 1 to 65535',
    )
  const name = host.toLowerCase()
  if (name.length > 253 || !name.split('.').every((label) => HOST_LABEL.test(label)))
    throw new PermissionFault(
      'CONFIG',
      path,
      `'${given}' has no valid host name`,
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

/**
 * Why a manifest is not accepted, and where in its permissions it says so. `PERMISSION`: it asks
 * for more than any tool gets. `CONFIG`: it cannot be understood.
 */
export class PermissionFault extends Error {
  readonly code: 'CONFIG' | 'PERMISSION'
  readonly path: KeyPath
  readonly fix: string

  constructor(code: PermissionFault['code'], path: KeyPath, message: string, fix: string) {
    super(message)
    this.code = code
    this.path = path
    this.fix = fix
  }
}

const MAX_MANIFEST_BYTES = MEBIBYTE

/**
 * The fault as everybody sees it: with the file and the line. `file` is left out where the
 * permissions come from no file.
 */
export async function toPermissionError(
  { code, path, message, fix }: PermissionFault,
  file: string | undefined,
): Promise<ToolError> {
  const place = file === undefined ? undefined : await locatePermission(file, path)
  return new ToolError(code, `${formatLocation(file, place)}${message}`, {
    suggestion: fix,
    details: { ...compact({ file }), ...place },
  })
}

/** Where a part of its permissions stands in a manifest; undefined where nobody can tell. */
export async function locatePermission(
  file: string,
  path: KeyPath,
): Promise<DocumentPosition | undefined> {
  const document = await readLocatedDocument(file)
  // The resources and secrets of a manifest stand beside its permissions, or in them.
  return (await document?.locate(path)) ?? document?.locate(['permissions', ...path])
}

/** `file:line: `, as far as it is known. */
export function formatLocation(
  file: string | undefined,
  place: DocumentPosition | undefined,
): string {
  return file === undefined ? '' : `${file}${place ? `:${place.line}` : ''}: `
}

// Only to name a line: a manifest that cannot be read any more is named without one.
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
