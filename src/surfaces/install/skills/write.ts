import { existsSync, mkdirSync, renameSync, rmSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeTemporary } from '../../../call/exclusive-file.ts'
import { host } from '../../../call/host.ts'
import { foldersAbove, removeFolders } from '../../../call/files/folders.ts'
import { lockOf } from '../../../call/files/lock.ts'
import { readSkillFile } from './inspect.ts'
import { MARKER, ownPaths, writeMarker } from './marker.ts'
import type { Digests, Marker } from './marker.ts'
import { digestOfText } from './skill.ts'
import type { Skill } from './skill.ts'

/** Puts a whole new folder in its place, at once. `folders` is how many above it were made for it. */
export function createSkill(folder: string, skill: Skill, folders: number): void {
  const temporary = `${lockOf(folder)}.${host.pid}-0.tmp`
  const marker = writeMarker({
    program: skill.program,
    files: digestsOf(skill),
    folders: existsSync(folder) ? 0 : folders + 1,
  })
  try {
    for (const [path, text] of [...skill.files, [MARKER, marker] as const]) {
      mkdirSync(dirname(join(temporary, path)), { recursive: true })
      writeFileSync(join(temporary, path), text, { flush: true })
    }
    if (existsSync(folder)) rmdirSync(folder)
    renameSync(temporary, folder)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

/** Brings our files in a folder up to date, one after the other. The marker knows the old and the new ones until that is done, so that a kill in between makes nothing look like somebody's edit. */
export function updateSkill(
  folder: string,
  skill: Skill,
  { files = {}, folders = 0 }: Partial<Marker>,
): void {
  const wanted = digestsOf(skill)
  replace(folder, MARKER, writeMarker({ program: skill.program, files, pending: wanted, folders }))
  for (const [path, text] of skill.files)
    if (readSkillFile(folder, path) !== text) replace(folder, path, text)
  deleteFiles(
    folder,
    Object.keys(files).filter((path) => !skill.files.has(path)),
  )
  replace(folder, MARKER, writeMarker({ program: skill.program, files: wanted, folders }))
}

/** Takes our files out of a folder, the marker last: without it nobody would know that the others are ours. Gives the folders that we made. */
export function removeSkill(folder: string, marker: Marker): readonly string[] {
  deleteFiles(folder, [...ownPaths(marker), MARKER])
  return marker.folders > 0 ? [...foldersAbove(folder, marker.folders - 1), folder] : []
}

function digestsOf(skill: Skill): Digests {
  return Object.fromEntries([...skill.files].map(([path, text]) => [path, digestOfText(text)]))
}

function replace(folder: string, path: string, text: string): void {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  const temporary = writeTemporary(lockOf(folder), text, { mode: 0o666 })
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
    removeFolders(foldersAbove(join(folder, path), path.split('/').length - 1))
  }
}
