import { readFileSync } from 'node:fs'
import { basename, dirname, extname, join, parse, relative, sep } from 'node:path'
import type * as Esbuild from 'esbuild'
import type { BuildOptions, Loader, Message, Metafile, OutputFile, Plugin } from 'esbuild'
import { ToolError } from '../../contract/tool-error.ts'
import type { Chunks } from './assemble.ts'
import { outsideModules } from './builtins.ts'
import { START, ZOD } from './chunk-names.ts'
import { readLicences } from './licences.ts'
import { ownPackage } from './own-package.ts'
import { filesWithin, readReach } from './own-reach.ts'
import { chunksImported, chunksImportedLate } from './read-chunk.ts'
import { findUsedNames } from './used-names.ts'
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
}

/** A program with all that it imports. */
export type Bundle = {
  readonly chunks: Chunks
  readonly licences: string | undefined
  /** Records stand in the place of zod. */
  readonly recorded: boolean
  /** A package of the program uses zod too, which could be handed a record and look at it in ways of its own. */
  readonly shared: boolean
}

const ROOT = parse(import.meta.filename ?? '/').root

/** Bundles a program with all that it imports, cut into what is loaded at once and what is loaded later. Throws CONFIG with file and line for what cannot be bundled. */
export async function bundle(
  esbuild: typeof Esbuild,
  { entry, start, external, records, ownFolder }: BundleOptions,
): Promise<Bundle> {
  const zod: ZodUse = { recorded: false, packages: new Set() }
  const plugins = [
    startModule(start, entry),
    outsideModules(external),
    entryMeta(entry),
    ...(records ? [zodRecords(ownFolder, entry, zod)] : []),
    ownPackage(ownFolder, entry),
  ]
  const common = {
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    absWorkingDir: ROOT,
    outdir: join(ROOT, 'toolable'),
    minifyWhitespace: true,
    charset: 'ascii',
    logLevel: 'silent',
    define: { 'import.meta': '__toolable_inner' },
    entryPoints: [{ in: 'toolable:start', out: 'start' }],
  } as const satisfies BuildOptions
  try {
    const isOwn = entry.startsWith(ownFolder)
    const reach = readReach(ownFolder)
    const late = isOwn
      ? []
      : [
          ownLateModules(
            ownFolder,
            filesWithin(
              reach,
              await findUsedNames(esbuild, reach, {
                ...common,
                entryPoints: [...common.entryPoints],
                plugins,
              }),
              ownFolder,
            ),
          ),
        ]
    const { outputFiles, metafile } = await esbuild.build({
      ...common,
      splitting: true,
      metafile: true,
      legalComments: 'external',
      chunkNames: '[name]-[hash]',
      plugins: [...late, ...plugins],
      entryPoints: [
        ...common.entryPoints,
        ...(zod.recorded ? [{ in: 'toolable:zod', out: 'zod' }] : []),
      ],
    })
    const chunks = loadedChunks(readChunks(outputFiles, entry))
    const used = new Set(
      Object.entries(metafile.outputs).flatMap(([file, { inputs }]) =>
        chunks[`./${basename(file)}`] === undefined
          ? []
          : Object.entries(inputs).flatMap(([each, { bytesInOutput }]) =>
              bytesInOutput > 0 ? [join(ROOT, each)] : [],
            ),
      ),
    )
    return {
      chunks,
      licences: readLicences(outputFiles, used),
      recorded: zod.recorded,
      shared:
        zod.recorded &&
        reachedFrom(entry, metafile.inputs, ownFolder).some(
          (file) => used.has(file) && zod.packages.has(file),
        ),
    }
  } catch (error) {
    const { errors } = error as { readonly errors?: readonly Message[] }
    throw errors?.length ? explain(errors) : error
  }
}

// What the program imports by itself: packages of this one never see a schema of its.
function reachedFrom(
  entry: string,
  inputs: Metafile['inputs'],
  ownFolder: string,
): readonly string[] {
  const found = new Set<string>()
  const visit = (file: string): void => {
    if (found.has(file) || file.startsWith(ownFolder)) return
    found.add(file)
    for (const { path } of inputs[file.slice(ROOT.length)]?.imports ?? []) visit(join(ROOT, path))
  }
  visit(entry)
  return [...found]
}

// The others are only mentioned in code that was left out.
function loadedChunks(chunks: Chunks): Chunks {
  const found: { [name: string]: string } = {}
  const visit = (name: string): void => {
    const text = chunks[name]
    if (text === undefined || Object.hasOwn(found, name)) return
    found[name] = text
    for (const other of [...chunksImported(text), ...chunksImportedLate(text)]) visit(other)
  }
  visit(START)
  visit(ZOD)
  return found
}

// esbuild calls modules of CommonJS by their paths on this machine, which are nothing for others.
function readChunks(files: readonly OutputFile[], entry: string): Chunks {
  const shorten = (text: string): string =>
    text.replace(
      /\b__commonJS\(\{"([^"]+)"/g,
      (_all, path: string) =>
        `__commonJS({${JSON.stringify(relative(dirname(entry), join(ROOT, path)).replaceAll(sep, '/'))}`,
    )
  return Object.fromEntries(
    files
      .filter(({ path }) => path.endsWith('.js'))
      .map(({ path, text }) => [`./${basename(path)}`, shorten(text)]),
  )
}

function startModule(start: string, entry: string): Plugin {
  return {
    name: 'toolable-start',
    setup(build) {
      build.onResolve({ filter: /^toolable:(start|zod)$/ }, ({ path }) => ({
        path,
        namespace: 'toolable-start',
      }))
      build.onLoad({ filter: /^toolable:start$/, namespace: 'toolable-start' }, () => ({
        contents: start,
        resolveDir: dirname(entry),
      }))
      build.onLoad({ filter: /^toolable:zod$/, namespace: 'toolable-start' }, () => ({
        contents: "export * from 'zod'",
        resolveDir: dirname(entry),
      }))
    },
  }
}

// Where it cuts, esbuild takes every import() for one that can happen, also those in code that nobody uses. Of this package it is known which can.
function ownLateModules(ownFolder: string, within: ReadonlySet<string>): Plugin {
  return {
    name: 'toolable-late',
    setup(build) {
      build.onResolve({ filter: /^\./ }, ({ path, kind, resolveDir, importer }) =>
        kind !== 'dynamic-import' ||
        !importer.startsWith(ownFolder) ||
        within.has(join(resolveDir, path))
          ? undefined
          : { path, external: true },
      )
    },
  }
}

const LOADERS: { readonly [extension: string]: Loader } = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.tsx': 'tsx',
  '.jsx': 'jsx',
}

// Of all modules in the bundle only the entry is the entry point of the program.
function entryMeta(entry: string): Plugin {
  return {
    name: 'toolable-entry',
    setup(build) {
      build.onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: 'file' }, ({ path }) => {
        if (path !== entry) return undefined
        const source = readFileSync(entry, 'utf8')
        if (!source.includes('import.meta')) return undefined
        const [hashbang = ''] = /^#!.*\n?/.exec(source) ?? []
        return {
          contents: `${hashbang === '' ? '' : '\n'}const __toolable_inner=__toolable_entry;${source.slice(hashbang.length)}`,
          loader: LOADERS[extname(entry)] ?? 'js',
          resolveDir: dirname(entry),
        }
      })
    },
  }
}

function explain(errors: readonly Message[]): ToolError {
  const words = errors.map(({ text, location }) =>
    location
      ? `${['', 'file'].includes(location.namespace) ? join(ROOT, location.file) : location.file}:${location.line}:${location.column + 1}: ${text}`
      : text,
  )
  const missing = /^Could not resolve "([^"]+)"/.exec(errors[0]!.text)?.[1]
  const native = errors.find(({ text }) =>
    text.includes('No loader is configured for ".node" files'),
  )
  return new ToolError('CONFIG', `the program cannot be bundled: ${words[0]}`, {
    details: { problems: words.slice(0, 20) },
    suggestion: native
      ? { fix: 'A package with native code stays outside of the bundle: name it with --external' }
      : missing !== undefined && !/^[./]/.test(missing)
        ? {
            fix: `Install the package, or leave it outside of the bundle with --external ${missing}`,
            example: `npm install ${missing}`,
          }
        : { fix: 'Correct the file that is named' },
  })
}
