import { readdirSync } from 'node:fs'
import type { Dirent } from 'node:fs'
import { parse } from 'node:path'
import { look } from '../cache/stamp.ts'
import type { Candidate, Refusal } from './candidate.ts'
import { findEntry } from './entry-of.ts'
import { realBelow } from './inside.ts'
import { isReservedFile, isReservedFolder } from './reserved.ts'
import { outside, typescript } from './refusals.ts'
import { isProgram } from './runner.ts'

/** Everything in a folder that may bring tools, by path, and what is refused at sight. */
export type Scan = { readonly candidates: readonly Candidate[]; readonly refusals: readonly Refusal[] }

const YAML = /\.ya?ml$/i
const TYPESCRIPT = /(?<!\.d)\.[cm]?tsx?$/i

/** Lists a real folder: files at its top, the entries of tool folders, the manifests of its registry. Nothing is opened. Throws what reading the folder throws. */
export function scanFolder(folder: string): Scan {
  const candidates: Candidate[] = []
  const refusals: Refusal[] = []
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort(byName)) {
    const path = `${folder}/${entry.name}`
    if (entry.isSymbolicLink() && !isReservedFile(entry.name) && !isReservedFolder(entry.name) && realBelow(folder, path) === undefined) refusals.push(outside(entry.name, path))
    else if (entry.name === 'registry') scanRegistry(folder, path, candidates)
    else scanOne(folder, entry, path, candidates, refusals)
  }
  return { candidates, refusals }
}

function scanOne(folder: string, entry: Dirent, path: string, candidates: Candidate[], refusals: Refusal[]): void {
  const isLink = entry.isSymbolicLink()
  if (!isLink && !entry.isDirectory() && !entry.isFile()) return
  const seen = isLink || entry.isFile() ? look(path) : undefined
  if (entry.isDirectory() || seen?.isFolder) {
    if (isReservedFolder(entry.name)) return
    const found = findEntry(folder, entry.name)
    candidates.push(...found.candidates)
    refusals.push(...found.refusals)
    return
  }
  if (!seen?.isFile || isReservedFile(entry.name)) return
  const { name } = parse(entry.name)
  if (YAML.test(entry.name)) candidates.push({ key: entry.name, path, what: 'manifest', name, seen })
  else if (TYPESCRIPT.test(entry.name)) refusals.push(typescript(entry.name, path))
  else if (isProgram(entry.name, seen.mode)) candidates.push({ key: entry.name, path, what: 'program', name, seen })
}

function scanRegistry(folder: string, registry: string, candidates: Candidate[]): void {
  const codes = firstSeen([`${registry}/error_codes.yaml`, `${registry}/error_codes.yml`], folder)
  if (codes) candidates.push({ key: codes.path.slice(folder.length + 1), ...codes, what: 'error-codes', name: 'error_codes' })
  for (const { name } of listFolders(registry)) {
    const manifest = firstSeen([`${registry}/${name}/tool.yaml`, `${registry}/${name}/tool.yml`], folder)
    if (manifest) candidates.push({ key: manifest.path.slice(folder.length + 1), ...manifest, what: 'registered', name, toolFolder: `${folder}/${name}` })
  }
}

function firstSeen(paths: readonly string[], folder: string): Pick<Candidate, 'path' | 'seen'> | undefined {
  for (const path of paths) {
    const seen = look(path)
    if (seen?.isFile && realBelow(folder, path) !== undefined) return { path, seen }
  }
  return undefined
}

function listFolders(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.')).sort(byName)
  } catch {
    return []
  }
}

// Not by locale, which costs and differs.
function byName(left: Dirent, right: Dirent): number {
  return left.name < right.name ? -1 : 1
}
