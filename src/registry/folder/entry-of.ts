import { readdirSync } from 'node:fs'
import { look } from '../cache/stamp.ts'
import type { Candidate, Refusal } from './candidate.ts'
import { isTypeScript } from './file-name.ts'
import { realBelow } from './inside.ts'
import { outside, typescript } from './refusals.ts'
import { isProgram } from './runner.ts'

const STEMS = ['cli', 'main', 'tool']
const EXTENSIONS = ['py', 'sh', 'bash', 'js', 'mjs', 'cjs']
const NEVER = /\.(?:ya?ml|json|md|txt|toml|lock|d\.ts|map|pyc)$/i

/** What a tool folder brings: its entry (`cli.*`, then `main.*`, then `tool.*`), and a manifest beside it. */
export function findEntry(
  folder: string,
  name: string,
): { readonly candidates: readonly Candidate[]; readonly refusals: readonly Refusal[] } {
  const toolFolder = `${folder}/${name}`
  const files = listFiles(toolFolder)
  const candidates: Candidate[] = []
  const refusals: Refusal[] = []
  const manifest = ['tool.yaml', 'tool.yml'].find((file) => files.includes(file))
  const own = (file: string): Pick<Candidate, 'key' | 'path' | 'name' | 'toolFolder'> => ({
    key: `${name}/${file}`,
    path: `${toolFolder}/${file}`,
    name,
    toolFolder,
  })
  if (manifest !== undefined) {
    const seen = look(`${toolFolder}/${manifest}`)
    if (seen?.isFile && realBelow(folder, `${toolFolder}/${manifest}`) !== undefined)
      candidates.push({ ...own(manifest), what: 'registered', seen })
  }
  for (const file of inOrder(files)) {
    const path = `${toolFolder}/${file}`
    const seen = look(path)
    if (!seen?.isFile) continue
    if (isTypeScript(file)) refusals.push(typescript(`${name}/${file}`, path))
    else if (!isProgram(file, seen.mode)) continue
    else if (realBelow(folder, path) === undefined) refusals.push(outside(`${name}/${file}`, path))
    else {
      candidates.push({ ...own(file), what: 'program', seen })
      return { candidates, refusals: [] }
    }
  }
  return { candidates, refusals: refusals.slice(0, 1) }
}

function inOrder(files: readonly string[]): readonly string[] {
  return STEMS.flatMap((stem) =>
    files
      .filter((file) => (file === stem || file.startsWith(`${stem}.`)) && !NEVER.test(file))
      .sort((left, right) => rank(left) - rank(right)),
  )
}

function rank(file: string): number {
  const place = EXTENSIONS.indexOf(file.slice(file.indexOf('.') + 1))
  return place === -1 ? EXTENSIONS.length : place
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}
