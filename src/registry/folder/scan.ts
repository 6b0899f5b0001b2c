import { lstatSync, readdirSync } from 'node:fs'
import { look, seenFrom } from '../cache/stamp.ts'
import type { Seen } from '../cache/stamp.ts'
import type { Candidate, Refusal } from './candidate.ts'
import { findEntry } from './entry-of.ts'
import { extensionOf, isTypeScript, isYaml, stemOf } from './file-name.ts'
import { realBelow } from './inside.ts'
import { outside, typescript } from './refusals.ts'
import { isReservedFile, isReservedFolder } from './reserved.ts'
import { isProgram } from './runner.ts'

/** Everything in a folder that may bring tools, by path, and what is refused at sight. */
export type Scan = {
  readonly candidates: readonly Candidate[]
  readonly refusals: readonly Refusal[]
}

/** Lists a real folder: files at its top, the entries of tool folders, the manifests of its registry. Nothing is opened. Throws what reading the folder throws. */
export function scanFolder(folder: string): Scan {
  const candidates: Candidate[] = []
  const refusals: Refusal[] = []
  for (const name of readdirSync(folder).sort()) {
    const path = `${folder}/${name}`
    if (name === 'registry') scanRegistry(folder, path, candidates)
    else if (!isReservedFile(name) && !isReservedFolder(name))
      scanOne(folder, name, path, candidates, refusals)
  }
  return { candidates, refusals }
}

function scanOne(
  folder: string,
  name: string,
  path: string,
  candidates: Candidate[],
  refusals: Refusal[],
): void {
  const own = lstatSync(path, { throwIfNoEntry: false })
  const isLink = own?.isSymbolicLink() ?? false
  if (isLink && realBelow(folder, path) === undefined) {
    refusals.push(outside(name, path))
    return
  }
  const seen = isLink ? look(path) : own && seenFrom(own)
  if (seen?.isFolder) {
    const found = findEntry(folder, name)
    candidates.push(...found.candidates)
    refusals.push(...found.refusals)
  } else if (seen?.isFile) scanFile(name, path, seen, candidates, refusals)
}

function scanFile(
  key: string,
  path: string,
  seen: Seen,
  candidates: Candidate[],
  refusals: Refusal[],
): void {
  const extension = extensionOf(key)
  if (isYaml(extension)) candidates.push({ key, path, what: 'manifest', name: stemOf(key), seen })
  else if (isTypeScript(key)) refusals.push(typescript(key, path))
  else if (isProgram(key, seen.mode))
    candidates.push({ key, path, what: 'program', name: stemOf(key), seen })
}

function scanRegistry(folder: string, registry: string, candidates: Candidate[]): void {
  const codes = firstSeen([`${registry}/error_codes.yaml`, `${registry}/error_codes.yml`], folder)
  if (codes)
    candidates.push({
      key: codes.path.slice(folder.length + 1),
      ...codes,
      what: 'error-codes',
      name: 'error_codes',
    })
  for (const name of listNames(registry)) {
    const manifest = firstSeen(
      [`${registry}/${name}/tool.yaml`, `${registry}/${name}/tool.yml`],
      folder,
    )
    if (manifest)
      candidates.push({
        key: manifest.path.slice(folder.length + 1),
        ...manifest,
        what: 'registered',
        name,
        toolFolder: `${folder}/${name}`,
      })
  }
}

function firstSeen(
  paths: readonly string[],
  folder: string,
): Pick<Candidate, 'path' | 'seen'> | undefined {
  for (const path of paths) {
    const seen = look(path)
    if (seen?.isFile && realBelow(folder, path) !== undefined) return { path, seen }
  }
  return undefined
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => !name.startsWith('.'))
      .sort()
  } catch {
    return []
  }
}
