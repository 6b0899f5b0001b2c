import { lstatSync } from 'node:fs'
import { dirname, normalize } from 'node:path'
import type { KeyPath } from '../../contract/documents/document.ts'
import { shorten } from '../../contract/shorten.ts'
import { contains, realPath } from '../sandbox/paths.ts'
import { Fault } from './fault.ts'
import type { PlaceGrant } from './grants.ts'

const WORKSPACE = '${WORKSPACE}'
const LONGEST = 4096

/** Through these a tool would see or change the machine itself. */
const NEVER = ['/proc', '/sys', '/dev']
const SERVICES = '/run'

/** What a place means: `undefined` where it lies in the workspace, which belongs to the tool anyway. Throws a Fault for what is no exact place. */
export function readPlace(text: string, workspace: string, path: KeyPath): PlaceGrant | undefined {
  const { written, tree } = splitTree(text, path)
  checkText(text, written, path)
  if (isBelow(written, WORKSPACE)) {
    checkLinks(
      normalize((realPath(workspace) ?? workspace) + written.slice(WORKSPACE.length)),
      realPath(workspace) ?? workspace,
      text,
      path,
    )
    return undefined
  }
  if (written.includes('${'))
    throw new Fault(
      'CONFIG',
      path,
      `${quote(text)} has a variable that means nothing here`,
      `Only ${WORKSPACE} is known, and only at the beginning`,
    )
  if (!written.startsWith('/'))
    throw new Fault(
      'CONFIG',
      path,
      `${quote(text)} is not an absolute path`,
      `Begin it with / or with ${WORKSPACE}/`,
    )
  const real = normalize(written).replace(/(?<=.)\/$/, '')
  if (real === '/')
    throw new Fault(
      'PERMISSION',
      path,
      `${quote(text)} is the whole machine`,
      'Name the folders that the tool needs',
    )
  const system = NEVER.find((place) => contains(place, real))
  if (system !== undefined)
    throw new Fault(
      'PERMISSION',
      path,
      `${quote(text)} lies in ${system}, which is the machine itself`,
      'Leave it out; the tool has its own',
    )
  if (real === SERVICES)
    throw new Fault(
      'PERMISSION',
      path,
      `${quote(text)} holds the services of the machine, which do what they are told`,
      'Name the files that the tool needs',
    )
  checkLinks(real, '/', text, path)
  checkKind(real, tree, text, path)
  return { path: real, tree }
}

/** What a whole folder means that the caller stands in, for the short forms. */
export function placeOfCaller(cwd: string, word: string, path: KeyPath): PlaceGrant {
  const real = realPath(cwd)
  if (real === undefined || real === '/' || NEVER.some((place) => contains(place, real))) {
    throw new Fault(
      'PERMISSION',
      path,
      `'${word}' means the folder of the caller, and that is ${real === '/' ? 'the whole machine' : cwd}`,
      'Start it in a folder of its own, or name the places in filesystem.read and filesystem.write',
    )
  }
  return { path: real, tree: true }
}

function splitTree(
  text: string,
  path: KeyPath,
): { readonly written: string; readonly tree: boolean } {
  if (text === '/**')
    throw new Fault(
      'PERMISSION',
      path,
      "'/**' is the whole machine",
      'Name the folders that the tool needs',
    )
  return text.endsWith('/**')
    ? { written: text.slice(0, -3), tree: true }
    : { written: text, tree: false }
}

function checkText(text: string, written: string, path: KeyPath): void {
  if (text.length > LONGEST)
    throw new Fault(
      'CONFIG',
      path,
      `a path of ${text.length} characters is too long`,
      `A path has ${LONGEST} at most`,
    )
  if (/[\u0000-\u001f\u007f]/.test(text))
    throw new Fault(
      'CONFIG',
      path,
      `${quote(text)} has a NUL or another control character`,
      'Take it out',
    )
  const bare = written.startsWith(WORKSPACE) ? written.slice(WORKSPACE.length) : written
  if (/[*?[\]]/.test(bare) || /(?<!\$)\{/.test(bare))
    throw new Fault(
      'CONFIG',
      path,
      `${quote(text)} is a pattern, which no sandbox can hold`,
      'Write a path as it is, or a folder with everything in it: /data/**',
    )
  if (bare.split('/').includes('..'))
    throw new Fault(
      'PERMISSION',
      path,
      `${quote(text)} leads out by '..'`,
      'Write the path that it leads to',
    )
  if (bare.startsWith('~'))
    throw new Fault(
      'CONFIG',
      path,
      `${quote(text)} begins with ~, which is another folder for everybody`,
      'Write the whole path',
    )
}

// A link can be turned to anywhere after its target was accepted.
function checkLinks(real: string, root: string, text: string, path: KeyPath): void {
  for (let at = real; at !== root && contains(root, at); at = dirname(at)) {
    if (!lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) continue
    const leads = realPath(real)
    throw new Fault(
      'PERMISSION',
      path,
      `${quote(text)} leads through the link ${at}`,
      leads === undefined
        ? 'Name the place that the link leads to'
        : `Write ${leads}${text.endsWith('/**') ? '/**' : ''}`,
    )
  }
}

// What is not there cannot be read, which harms nobody, and where it may be written the sandbox makes it.
function checkKind(real: string, tree: boolean, text: string, path: KeyPath): void {
  const stats = lstatSync(real, { throwIfNoEntry: false })
  // Who may read a socket may talk to whoever listens there.
  if (stats && !stats.isDirectory() && !stats.isFile())
    throw new Fault(
      'PERMISSION',
      path,
      `${quote(text)} is neither a file nor a folder`,
      'Leave it out',
    )
  if (stats?.isDirectory() && !tree)
    throw new Fault(
      'CONFIG',
      path,
      `${quote(text)} is a folder`,
      `To give everything in it, write ${real}/**`,
    )
  if (stats && tree && !stats.isDirectory())
    throw new Fault('CONFIG', path, `${quote(text)} is no folder`, `Write ${real}`)
}

function isBelow(written: string, folder: string): boolean {
  return written === folder || written.startsWith(`${folder}/`)
}

function quote(text: string): string {
  return `'${shorten(text.replace(/[\u0000-\u001f\u007f]/g, '�'), 200)}'`
}
