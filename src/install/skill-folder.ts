/**
 * The folder of one skill: what it should hold, what it holds, the marker that says what was
 * written, and writing it.
 */

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { getLockPath } from '../core/files/lock.ts'
import { listParentFolders, removeFolders } from '../core/files/shared-file.ts'
import { host } from '../core/host.ts'
import type { Servable } from '../core/provider.ts'
import { generateSkillFiles } from '../docs/generate.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { readTextFile } from '../util/files.ts'
import { writeTemporaryFile } from '../util/lock-file.ts'
import { compact, isObject, tryParseJson } from '../util/values.ts'
import { hashToHex } from './server-entry.ts'

/**
 * A skill about a program: the name of its folder, and the texts of its files by path in that
 * folder, with slashes.
 */
export type InstallableSkill = {
  readonly name: string
  readonly program: string
  readonly files: ReadonlyMap<string, string>
}

/** Writes the skill of a program. */
export async function generateSkill(set: Servable): Promise<InstallableSkill> {
  const files = await generateSkillFiles(set)
  const name = files[0]!.path.split('/')[0]!
  return {
    name,
    program: set.name,
    files: new Map(files.map(({ path, text }) => [path.slice(name.length + 1), text])),
  }
}

// Line ends do not count, because git changes them on some machines.
function hashText(text: string): string {
  return hashToHex(text.replaceAll('\r\n', '\n'))
}

/**
 * A skill's folder as it is: missing, as it would be written now, as it was written before, changed
 * by somebody since, or somebody else's.
 */
export type FoundSkill =
  | { readonly state: 'absent' }
  | { readonly state: 'current'; readonly marker: SkillMarker }
  /** `reason`: somebody's file stands where one of ours would go. */
  | { readonly state: 'stale'; readonly marker: SkillMarker; readonly reason?: string }
  | { readonly state: 'edited'; readonly marker: SkillMarker; readonly reason: string }
  | { readonly state: 'foreign'; readonly reason: string }

/** Looks at the folder of a skill. Throws CONFIG for what is no folder, or leads out of it. */
export function inspectSkill(folder: string, skill: InstallableSkill): FoundSkill {
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  if (stats === undefined) return { state: 'absent' }
  if (!stats.isDirectory())
    throw new ToolError(
      'CONFIG',
      stats.isSymbolicLink()
        ? "is a link, and what it leads to may be somebody else's"
        : 'is not a folder',
    )
  if (readdirSync(folder).length === 0) return { state: 'absent' }
  const marker = readMarker(folder)
  if (marker?.program !== skill.program)
    return {
      state: 'foreign',
      reason: marker
        ? `the folder belongs to the program ${marker.program}`
        : 'the folder was written by somebody else',
    }
  const edited = listOwnPaths(marker).find((path) =>
    isForeignFile(folder, path, getDigests(marker, path)),
  )
  if (edited !== undefined)
    return {
      state: 'edited',
      marker,
      reason: `${edited} was changed by somebody after it was installed`,
    }
  if (isCurrentSkill(folder, marker, skill)) return { state: 'current', marker }
  const obstacle = [...skill.files].find(([path, text]) =>
    isForeignFile(folder, path, [...getDigests(marker, path), hashText(text)]),
  )?.[0]
  const reason = obstacle === undefined ? undefined : `${obstacle} was written by somebody else`
  return compact({ state: 'stale', marker, reason })
}

/**
 * A file of a skill; undefined where it is missing. Throws CONFIG where a link in the folder leads
 * somewhere else.
 */
function readSkillFile(folder: string, path: string): string | undefined {
  const parent = dirname(join(folder, path))
  if (
    lstatSync(parent, { throwIfNoEntry: false }) &&
    realpathSync(parent) !== join(realpathSync(folder), dirname(path))
  )
    throw new ToolError('CONFIG', `holds a link at ${dirname(path)}`)
  return lstatSync(join(folder, path), { throwIfNoEntry: false })
    ? (readTextFile(join(folder, path)) ?? '')
    : undefined
}

// A missing file is no loss; one with a content that we did not write would be.
function isForeignFile(folder: string, path: string, known: readonly string[]): boolean {
  const text = readSkillFile(folder, path)
  return text !== undefined && !known.includes(hashText(text))
}

function isCurrentSkill(folder: string, marker: SkillMarker, skill: InstallableSkill): boolean {
  if (marker.pending || Object.keys(marker.files).length !== skill.files.size) return false
  return [...skill.files].every(
    ([path, text]) =>
      getDigests(marker, path).includes(hashText(text)) &&
      readSkillFile(folder, path) !== undefined,
  )
}

/** The file in a skill's folder that says who wrote it and what. */
const MARKER_FILE_NAME = '.toolable.json'

/** Digests of texts by path. */
type FileDigests = { readonly [path: string]: string }

/** What we wrote into a folder. */
type SkillMarker = {
  readonly program: string
  readonly files: FileDigests
  /** What an update is about to write; gone when it is done. */
  readonly pending?: FileDigests
  /** How many folders we made: the skill's own, and those above it. */
  readonly folders: number
}

/** The marker of a folder; undefined where there is none, or none that we could have written. */
function readMarker(folder: string): SkillMarker | undefined {
  const marker = tryParseJson(readTextFile(join(folder, MARKER_FILE_NAME)) ?? '')
  return isMarker(marker) ? marker : undefined
}

/** The marker as it stands in its file. */
function formatMarker(marker: SkillMarker): string {
  return `${JSON.stringify(marker, null, 2)}\n`
}

/** The paths of what is ours in a folder, the marker not among them. */
function listOwnPaths({ files, pending = {} }: SkillMarker): readonly string[] {
  return [...new Set([...Object.keys(files), ...Object.keys(pending)])]
}

/** What we may have written at a path. */
function getDigests({ files, pending = {} }: SkillMarker, path: string): readonly string[] {
  return [files, pending].flatMap((digests) =>
    Object.hasOwn(digests, path) ? [digests[path]!] : [],
  )
}

function isMarker(value: unknown): value is SkillMarker {
  return (
    isObject(value) &&
    typeof value['program'] === 'string' &&
    isDigests(value['files']) &&
    (value['pending'] === undefined || isDigests(value['pending'])) &&
    Number.isInteger(value['folders'])
  )
}

// Folders are shared: a path that leads out of its folder was not written by us.
function isDigests(value: unknown): boolean {
  return (
    isObject(value) &&
    Object.entries(value).every(
      ([path, digest]) =>
        typeof digest === 'string' && /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*$/.test(path),
    )
  )
}

/**
 * Puts a whole new folder in its place, at once. `folders` is how many above it were made for it.
 */
export function createSkill(folder: string, skill: InstallableSkill, folders: number): void {
  const temporary = `${getLockPath(folder)}.${host.pid}-0.tmp`
  const marker = formatMarker({
    program: skill.program,
    files: hashFiles(skill),
    folders: existsSync(folder) ? 0 : folders + 1,
  })
  try {
    for (const [path, text] of [...skill.files, [MARKER_FILE_NAME, marker] as const]) {
      mkdirSync(dirname(join(temporary, path)), { recursive: true })
      writeFileSync(join(temporary, path), text, { flush: true })
    }
    if (existsSync(folder)) rmdirSync(folder)
    renameSync(temporary, folder)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

/**
 * Brings our files in a folder up to date, one after the other. The marker knows the old and the
 * new ones until that is done, so that a kill in between makes nothing look like somebody's edit.
 */
export function updateSkill(
  folder: string,
  skill: InstallableSkill,
  { files = {}, folders = 0 }: Partial<SkillMarker>,
): void {
  const { program } = skill
  const wanted = hashFiles(skill)
  const mark = (marker: SkillMarker): void =>
    replaceSkillFile(folder, MARKER_FILE_NAME, formatMarker(marker))
  mark({ program, files, pending: wanted, folders })
  for (const [path, text] of skill.files)
    if (readSkillFile(folder, path) !== text) replaceSkillFile(folder, path, text)
  deleteFiles(
    folder,
    Object.keys(files).filter((path) => !skill.files.has(path)),
  )
  mark({ program, files: wanted, folders })
}

/**
 * Takes our files out of a folder, the marker last: without it nobody would know that the others
 * are ours. Gives the folders that we made.
 */
export function removeSkill(folder: string, marker: SkillMarker): readonly string[] {
  deleteFiles(folder, [...listOwnPaths(marker), MARKER_FILE_NAME])
  return marker.folders > 0 ? [...listParentFolders(folder, marker.folders - 1), folder] : []
}

function hashFiles(skill: InstallableSkill): FileDigests {
  return Object.fromEntries([...skill.files].map(([path, text]) => [path, hashText(text)]))
}

function replaceSkillFile(folder: string, path: string, text: string): void {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  const temporary = writeTemporaryFile(getLockPath(folder), text, { mode: 0o666 })
  try {
    renameSync(temporary, file)
  } finally {
    rmSync(temporary, { force: true })
  }
}

function deleteFiles(folder: string, paths: readonly string[]): void {
  for (const path of paths) {
    readSkillFile(folder, path)
    rmSync(join(folder, path), { force: true })
    removeFolders(listParentFolders(join(folder, path), path.split('/').length - 1))
  }
}
