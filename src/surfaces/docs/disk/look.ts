import { resolve } from 'node:path'
import { isMarked } from '../mark.ts'
import type { GeneratedFile } from '../kinds/generated-file.ts'
import { findLeftovers } from './leftovers.ts'
import { locate } from './locate.ts'
import { readText } from './read-text.ts'
import { replaceBlock } from './replace-block.ts'

/** What documents are compared with: a folder, whose they are, and the folder inside it that holds nothing else of this kind. */
export type Place = {
  readonly root: string
  readonly program: string
  readonly kind: string
  readonly ownFolder?: string
}

/** A file beside what it should be. `foreign` is one that somebody else has written. */
export type Looked = {
  readonly path: string
  readonly file: string
  readonly state: 'missing' | 'stale' | 'current' | 'foreign'
  readonly next: string
}

/** Compares documents with what is on disk; changes nothing. */
export async function lookAt(
  files: readonly GeneratedFile[],
  place: Place,
): Promise<{ readonly files: readonly Looked[]; readonly leftovers: readonly string[] }> {
  const looked: Looked[] = []
  for (const file of files) looked.push(await lookAtFile(file, place))
  const generated = new Set(files.map(({ path }) => path))
  return {
    files: looked,
    leftovers:
      place.ownFolder === undefined
        ? []
        : await findLeftovers(
            resolve(place.root),
            place.ownFolder,
            place.program,
            place.kind,
            generated,
          ),
  }
}

async function lookAtFile(
  { path, text, block }: GeneratedFile,
  { root, program, kind }: Place,
): Promise<Looked> {
  const file = await locate(root, path)
  const present = await readText(file)
  const next = block ? replaceBlock(present ?? '', text, program, file) : text
  if (present === undefined) return { path, file, state: 'missing', next }
  // A checkout on Windows may have other line ends; the text is the same.
  if (present === next || (!block && present.replaceAll('\r\n', '\n') === next))
    return { path, file, state: 'current', next }
  const ours = block === true || present.trim() === '' || isMarked(present, program, kind)
  return { path, file, state: ours ? 'stale' : 'foreign', next }
}
