/**
 * Bundles a program with everything it imports, cut into chunks that load at start and chunks that
 * load later.
 */

import type * as Esbuild from 'esbuild'
import type { BuildOptions, Loader, Message, Metafile, OutputFile, Plugin } from 'esbuild'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, extname, join, parse, relative, sep } from 'node:path'
import { ToolError } from '../protocol/tool-error.ts'
import type { ProgramChunks } from './chunks.ts'
import {
  collectReachable,
  listImportedChunks,
  listLateImportedChunks,
  START_CHUNK,
  ZOD_CHUNK,
} from './chunks.ts'
import type { ZodUse } from './esbuild-plugins.ts'
import { externalModulesPlugin, ownPackagePlugin, zodRecordsPlugin } from './esbuild-plugins.ts'

type BundleOptions = {
  /** The file of the program, absolute. */
  readonly entry: string
  /** The module that starts it, as text; it imports the entry. */
  readonly start: string
  /** Packages that are not bundled and are resolved when the program runs. */
  readonly external: readonly string[]
  /** Replaces zod by records. */
  readonly records: boolean
  readonly ownFolder: string
}

/** A bundled program. */
export type ProgramBundle = {
  readonly chunks: ProgramChunks
  readonly licences: string | undefined
  /** Records replace zod. */
  readonly recorded: boolean
  /** A package of the program uses zod too, and might not understand a record. */
  readonly shared: boolean
}

const FILE_SYSTEM_ROOT = parse(import.meta.filename ?? '/').root

/** Bundles a program with everything it imports. Throws CONFIG with file and line. */
export async function bundleProgram(
  esbuild: typeof Esbuild,
  { entry, start, external, records, ownFolder }: BundleOptions,
): Promise<ProgramBundle> {
  const zod: ZodUse = { recorded: false, packages: new Set() }
  const plugins = [
    startModulePlugin(start, entry),
    externalModulesPlugin(external),
    entryMetaPlugin(entry),
    ...(records ? [zodRecordsPlugin(ownFolder, entry, zod)] : []),
    ownPackagePlugin(ownFolder, entry),
  ]
  const common = {
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    absWorkingDir: FILE_SYSTEM_ROOT,
    outdir: join(FILE_SYSTEM_ROOT, 'toolable'),
    minifyWhitespace: true,
    charset: 'ascii',
    logLevel: 'silent',
    define: { 'import.meta': '__toolable_inner' },
    entryPoints: [{ in: 'toolable:start', out: 'start' }],
  } as const satisfies BuildOptions
  try {
    const late: Plugin[] = []
    if (!entry.startsWith(ownFolder)) {
      const options = { ...common, entryPoints: [...common.entryPoints], plugins }
      const files = await findReachableOwnFiles(esbuild, ownFolder, options)
      late.push(ownLateImportsPlugin(ownFolder, files))
    }
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
    const chunks = keepLoadedChunks(readChunks(outputFiles, entry))
    const used = new Set(
      Object.entries(metafile.outputs).flatMap(([file, { inputs }]) =>
        chunks[`./${basename(file)}`] === undefined
          ? []
          : Object.entries(inputs).flatMap(([each, { bytesInOutput }]) =>
              bytesInOutput > 0 ? [join(FILE_SYSTEM_ROOT, each)] : [],
            ),
      ),
    )
    return {
      chunks,
      licences: readLicences(outputFiles, used),
      recorded: zod.recorded,
      shared:
        zod.recorded &&
        listReachableFiles(entry, metafile.inputs, ownFolder).some(
          (file) => used.has(file) && zod.packages.has(file),
        ),
    }
  } catch (error) {
    const { errors } = error as { readonly errors?: readonly Message[] }
    throw errors?.length ? toBundleError(errors) : error
  }
}

// What the program itself imports: packages of this one never see its schemas.
function listReachableFiles(
  entry: string,
  inputs: Metafile['inputs'],
  ownFolder: string,
): readonly string[] {
  const isForeign = (file: string): boolean => !file.startsWith(ownFolder)
  const listImports = (file: string): string[] =>
    (inputs[file.slice(FILE_SYSTEM_ROOT.length)]?.imports ?? [])
      .map(({ path }) => join(FILE_SYSTEM_ROOT, path))
      .filter(isForeign)
  return [...collectReachable([entry].filter(isForeign), listImports)]
}

// Other chunks are only mentioned in code that was left out.
function keepLoadedChunks(chunks: ProgramChunks): ProgramChunks {
  const loaded = collectReachable([START_CHUNK, ZOD_CHUNK], (name) => [
    ...listImportedChunks(chunks[name] ?? ''),
    ...listLateImportedChunks(chunks[name] ?? ''),
  ])
  return Object.fromEntries(Object.entries(chunks).filter(([name]) => loaded.has(name)))
}

// esbuild names CommonJS modules by their paths on this machine, which should not be published.
function readChunks(files: readonly OutputFile[], entry: string): ProgramChunks {
  const shorten = (text: string): string =>
    text.replace(
      /\b__commonJS\(\{"([^"]+)"/g,
      (_all, path: string) =>
        `__commonJS({${JSON.stringify(relative(dirname(entry), join(FILE_SYSTEM_ROOT, path)).replaceAll(sep, '/'))}`,
    )
  return Object.fromEntries(
    files
      .filter(({ path }) => path.endsWith('.js'))
      .map(({ path, text }) => [`./${basename(path)}`, shorten(text)]),
  )
}

function startModulePlugin(start: string, entry: string): Plugin {
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

// esbuild keeps every import(), also in unused code. For this package, the reachable ones are known.
function ownLateImportsPlugin(ownFolder: string, within: ReadonlySet<string>): Plugin {
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

// Only the entry has `import.meta.main`.
function entryMetaPlugin(entry: string): Plugin {
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

function toBundleError(errors: readonly Message[]): ToolError {
  const problems = errors.map(({ text, location }) =>
    location
      ? `${['', 'file'].includes(location.namespace) ? join(FILE_SYSTEM_ROOT, location.file) : location.file}:${location.line}:${location.column + 1}: ${text}`
      : text,
  )
  return new ToolError('CONFIG', `the program cannot be bundled: ${problems[0]}`, {
    details: { problems: problems.slice(0, 20) },
    suggestion: suggestBundleFix(errors),
  })
}

function suggestBundleFix(errors: readonly Message[]): { fix: string; example?: string } {
  if (errors.some(({ text }) => text.includes('No loader is configured for ".node" files')))
    return {
      fix: 'A package with native code stays outside of the bundle: name it with --external',
    }
  const missing = /^Could not resolve "([^"]+)"/.exec(errors[0]!.text)?.[1]
  if (missing === undefined || /^[./]/.test(missing))
    return { fix: 'Correct the file that is named' }
  return {
    fix: `Install the package, or leave it outside of the bundle with --external ${missing}`,
    example: `npm install ${missing}`,
  }
}

/** What the public names of this package can load with `import()`, written by its build. */
type ReachTable = {
  readonly files: readonly string[]
  readonly names: { readonly [entry: string]: { readonly [name: string]: readonly number[] } }
}

/**
 * Finds the files of this package that a program may load with `import()`, by the public names that
 * it uses: it is bundled with marks in their place, and esbuild drops the marks of unused names.
 */
async function findReachableOwnFiles(
  esbuild: typeof Esbuild,
  ownFolder: string,
  options: BuildOptions,
): Promise<ReadonlySet<string>> {
  const { files, names } = JSON.parse(
    readFileSync(join(ownFolder, 'reach.json'), 'utf8'),
  ) as ReachTable
  const { outputFiles } = await esbuild.build({
    ...options,
    write: false,
    splitting: false,
    plugins: [marksPlugin(names), ...(options.plugins ?? []), withoutZodPlugin],
  })
  const marks = outputFiles.flatMap(({ text }) => [
    ...text.matchAll(/__toolable_name\("([^" ]+) ([^"]+)"\)/g),
  ])
  return new Set(
    marks.flatMap(([, entry, name]) =>
      names[entry!]![name!]!.map((index) => join(ownFolder, files[index]!)),
    ),
  )
}

function marksPlugin(names: ReachTable['names']): Plugin {
  return {
    name: 'toolable-marks',
    setup(build) {
      build.onResolve({ filter: /^toolable(\/.*)?$/ }, ({ path }) =>
        Object.hasOwn(names, path)
          ? { path, namespace: 'toolable-marks', sideEffects: false }
          : undefined,
      )
      build.onLoad({ filter: /.*/, namespace: 'toolable-marks' }, ({ path }) => ({
        contents: Object.keys(names[path]!)
          .map(
            (name) =>
              `export const ${name}=/* @__PURE__ */__toolable_name(${JSON.stringify(`${path} ${name}`)})`,
          )
          .join('\n'),
      }))
    },
  }
}

// zod never imports this package, so it need not be read.
const withoutZodPlugin: Plugin = {
  name: 'toolable-without-zod',
  setup: (build) =>
    build.onResolve({ filter: /^zod(\/.*)?$/ }, ({ path }) => ({ path, external: true })),
}

const PACKAGE_FOLDER_PATTERN = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/
const LICENCE_FILE_PATTERN = /^(licen[cs]e|copying|notice)\b/i

/** Collects the licences in the bundled files and in their packages. Undefined when there are none. */
function readLicences(files: readonly OutputFile[], used: Iterable<string>): string | undefined {
  const inside = files
    .filter(({ path, text }) => path.endsWith('.LEGAL.txt') && text !== '')
    .map(({ text }) => text)
  const packages = new Set(
    [...used].flatMap((file) => PACKAGE_FOLDER_PATTERN.exec(file)?.[0] ?? []),
  )
  const texts = [...new Set(inside), ...[...packages].sort().flatMap(readPackageLicences)]
  return texts.length === 0 ? undefined : texts.join('\n')
}

function readPackageLicences(folder: string): string[] {
  const name = folder.replace(/^.*[\\/]node_modules[\\/]/, '')
  try {
    return readdirSync(folder)
      .filter((file) => LICENCE_FILE_PATTERN.test(basename(file)))
      .sort()
      .map((file) => `${name}, ${file}:\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`)
  } catch {
    return []
  }
}
