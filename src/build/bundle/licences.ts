import { readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { OutputFile } from 'esbuild'

const PACKAGE = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/
const LICENCE = /^(licen[cs]e|copying|notice)\b/i

/** The licences of what is in a bundle: those that stand in its files, and those that lie beside them in their packages. Undefined where there are none. */
export function readLicences(
  files: readonly OutputFile[],
  used: Iterable<string>,
): string | undefined {
  const inside = files
    .filter(({ path, text }) => path.endsWith('.LEGAL.txt') && text !== '')
    .map(({ text }) => text)
  const packages = new Set([...used].flatMap((file) => PACKAGE.exec(file)?.[0] ?? []))
  const texts = [...new Set(inside), ...[...packages].sort().flatMap(licencesOf)]
  return texts.length === 0 ? undefined : texts.join('\n')
}

function licencesOf(folder: string): string[] {
  const name = folder.replace(/^.*[\\/]node_modules[\\/]/, '')
  try {
    return readdirSync(folder)
      .filter((file) => LICENCE.test(basename(file)))
      .sort()
      .map((file) => `${name}, ${file}:\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`)
  } catch {
    return []
  }
}
