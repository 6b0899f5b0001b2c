import { readFileSync } from 'node:fs'
import { dirname, extname } from 'node:path'
import type { Loader, Message, Plugin } from 'esbuild'
import { ToolError } from '../../contract/tool-error.ts'
import { outsideModules } from './builtins.ts'
import { loadEsbuild } from './load-esbuild.ts'
import { ownPackage } from './own-package.ts'
import { zodRecords } from './zod-records.ts'
import type { ZodUse } from './zod-records.ts'

export type BundleOptions = {
  /** The file of the program, absolute. */
  readonly entry: string
  /** The module that starts it, as text; it imports the entry. */
  readonly start: string
  /** Packages that stay outside, and are looked for when the program runs. */
  readonly external: readonly string[]
  /** Records stand in the place of zod. */
  readonly records: boolean
  readonly ownFolder: string
  readonly sourceMap: boolean
}

/** A bundle: the text of an ES module without imports and exports, and what goes beside it. */
export type Bundle = { readonly code: string; readonly map: string | undefined; readonly licences: string | undefined; readonly zod: ZodUse; readonly files: readonly string[] }

/** Bundles a program with all that it imports. Throws CONFIG with file and line for what cannot be bundled. */
export async function bundle({ entry, start, external, records, ownFolder, sourceMap }: BundleOptions): Promise<Bundle> {
  const esbuild = await loadEsbuild(entry)
  const zod: ZodUse = { recorded: false, shared: false }
  try {
    const { outputFiles, metafile } = await esbuild.build({
      stdin: { contents: start, resolveDir: dirname(entry), sourcefile: 'toolable-start.js', loader: 'js' },
      outfile: 'program.js', bundle: true, write: false, metafile: true, platform: 'node', format: 'esm', target: 'node20.19',
      minifySyntax: true, minifyWhitespace: true, charset: 'ascii', legalComments: 'external', sourcemap: sourceMap ? 'external' : false, logLevel: 'silent',
      define: { 'import.meta': '__toolable_inner' },
      plugins: [outsideModules(external), entryMeta(entry), ...(records ? [zodRecords(ownFolder, entry, zod)] : []), ownPackage(ownFolder, entry)],
    })
    const text = (ending: string): string | undefined => outputFiles.find(({ path }) => path.endsWith(ending))?.text
    return { code: text('program.js')!, map: text('.map'), licences: text('.LEGAL.txt') || undefined, zod, files: Object.keys(metafile.inputs) }
  } catch (error) {
    const { errors } = error as { readonly errors?: readonly Message[] }
    throw errors?.length ? explain(errors) : error
  }
}

const LOADERS: { readonly [extension: string]: Loader } = { '.ts': 'ts', '.mts': 'ts', '.cts': 'ts', '.tsx': 'tsx', '.jsx': 'jsx' }

// Of all modules in the bundle only the entry is the entry point of the program.
function entryMeta(entry: string): Plugin {
  return {
    name: 'toolable-entry',
    setup(build) {
      build.onLoad({ filter: /\.[cm]?[jt]sx?$/ }, ({ path, namespace }) => {
        if (namespace !== 'file' || path !== entry) return undefined
        const source = readFileSync(entry, 'utf8')
        if (!source.includes('import.meta')) return undefined
        const [hashbang = ''] = /^#!.*\n?/.exec(source) ?? []
        return { contents: `${hashbang === '' ? '' : '\n'}const __toolable_inner=__toolable_entry;${source.slice(hashbang.length)}`, loader: LOADERS[extname(entry)] ?? 'js', resolveDir: dirname(entry) }
      })
    },
  }
}

function explain(errors: readonly Message[]): ToolError {
  const words = errors.map(({ text, location }) => (location ? `${location.file}:${location.line}:${location.column + 1}: ${text}` : text))
  const missing = /^Could not resolve "([^"]+)"/.exec(errors[0]!.text)?.[1]
  const native = errors.find(({ text }) => text.includes('No loader is configured for ".node" files'))
  return new ToolError('CONFIG', `the program cannot be bundled: ${words[0]}`, {
    details: { problems: words.slice(0, 20) },
    suggestion: native
      ? { fix: 'A package with native code stays outside of the bundle: name it with --external' }
      : missing !== undefined && !/^[./]/.test(missing)
        ? { fix: `Install the package, or leave it outside of the bundle with --external ${missing}`, example: `npm install ${missing}` }
        : { fix: 'Correct the file that is named' },
  })
}
