/**
 * Turns a TypeScript file into JavaScript: from the cache, else with esbuild, else with the
 * TypeScript compiler.
 */

import { readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { readOwnedFile, toCacheName, writeCacheFile } from '../core/cache.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { hashText } from '../util/short-hash.ts'
import { compact } from '../util/values.ts'
import { findPackage } from './find-package.ts'
import { findOwningPackage } from './locate.ts'
import { findTsconfig } from './typescript-source.ts'

// Goes up with what is asked of esbuild and of the compiler.
const TRANSFORM_FORMAT = '2'

/** JavaScript that node can run, and how. */
type TransformedSource = { readonly format: 'module' | 'commonjs'; readonly source: string }

/**
 * Makes JavaScript of a TypeScript file: from the cache, else by esbuild, else by the compiler.
 * Throws CONFIG where neither is there, and INVALID_INPUT, with file and line, for what is no
 * TypeScript. `wanted` is how it will be run, where that is not left to the file.
 */
export function transformFile(
  file: string,
  { folders, cacheFolder, version }: LoadSettings,
  wanted?: TransformedSource['format'],
): TransformedSource {
  const source = readFileSync(file, 'utf8')
  const format = wanted ?? getModuleFormat(file, source)
  const options = findTsconfig(dirname(file))?.options
  // One file for each source; its last line says what it was made of, and that it is whole.
  const kept =
    cacheFolder && join(cacheFolder, `typescript-${toCacheName(file)}-${hashText(file)}.js`)
  const ingredients = [TRANSFORM_FORMAT, version, format, JSON.stringify(options) ?? '', source]
  const end = `\n// of ${hashText(ingredients.join('\n'))}\n`
  const known = kept && readOwnedFile(kept)
  if (known?.endsWith(end)) return { format, source: known }
  const made = `${transformSource({ file, source, format, options, folders: [dirname(file), ...folders] })}${end}`
  if (cacheFolder && kept) writeCacheFile(cacheFolder, kept, made)
  return { format, source: made }
}

type TransformJob = {
  readonly file: string
  readonly source: string
  readonly format: TransformedSource['format']
  readonly options: { readonly [option: string]: unknown } | undefined
  readonly folders: readonly string[]
}

type EsbuildApi = { transformSync(source: string, options: object): { readonly code: string } }
type TranspileDiagnostic = {
  readonly start?: number
  readonly messageText: string | { readonly messageText: string }
}
type TranspileApi = {
  transpileModule(
    source: string,
    options: object,
  ): { readonly outputText: string; readonly diagnostics?: readonly TranspileDiagnostic[] }
  readonly ModuleKind: { readonly [kind: string]: number }
  readonly ScriptTarget: { readonly [target: string]: number }
}

// Options of a project that change what code means; all others are ours to say.
const EMIT_OPTIONS = [
  'experimentalDecorators',
  'emitDecoratorMetadata',
  'useDefineForClassFields',
  'verbatimModuleSyntax',
]

function transformSource(job: TransformJob): string {
  const esbuild = findPackage('esbuild', job.folders)
  if (esbuild) return transformWithEsbuild(esbuild.load() as EsbuildApi, job)
  const compiler = findPackage('typescript', job.folders)
  if (compiler) return transformWithCompiler(compiler.load() as TranspileApi, job)
  throw new ToolError(
    'CONFIG',
    `running ${job.file} on this version of node needs the package esbuild or typescript, and neither is installed`,
    { suggestion: 'npm install --save-dev esbuild' },
  )
}

function transformWithEsbuild(
  esbuild: EsbuildApi,
  { file, source, format, options }: TransformJob,
): string {
  try {
    return esbuild.transformSync(
      source,
      compact({
        loader: 'ts',
        format: format === 'module' ? 'esm' : 'cjs',
        sourcefile: file,
        sourcemap: 'inline',
        platform: 'node',
        target: 'node20.19',
        logLevel: 'silent',
        tsconfigRaw: options ? { compilerOptions: options } : undefined,
      }),
    ).code
  } catch (error) {
    const [first] =
      (
        error as {
          readonly errors?: readonly {
            readonly text: string
            readonly location?: { readonly line: number } | null
          }[]
        }
      ).errors ?? []
    if (!first) throw error
    throw createSyntaxError(file, first.location?.line ?? 1, first.text)
  }
}

function transformWithCompiler(
  ts: TranspileApi,
  { file, source, format, options }: TransformJob,
): string {
  const kept = Object.fromEntries(
    Object.entries(options ?? {}).filter(([name]) => EMIT_OPTIONS.includes(name)),
  )
  const module = format === 'module' ? ts.ModuleKind['ESNext'] : ts.ModuleKind['CommonJS']
  const { outputText, diagnostics: [first] = [] } = ts.transpileModule(source, {
    fileName: file,
    reportDiagnostics: true,
    compilerOptions: {
      ...kept,
      module,
      target: ts.ScriptTarget['ES2022'],
      inlineSourceMap: true,
      inlineSources: true,
      esModuleInterop: true,
    },
  })
  if (!first) return outputText
  throw createSyntaxError(
    file,
    source.slice(0, first.start ?? 0).split('\n').length,
    typeof first.messageText === 'string' ? first.messageText : first.messageText.messageText,
  )
}

function createSyntaxError(file: string, line: number, text: string): ToolError {
  return new ToolError('INVALID_INPUT', `${file}:${line}: ${text}`, {
    suggestion: 'Correct the syntax of the module',
    details: { source: file, line },
  })
}

// As node decides it: by the ending, by the package, and where neither says, by what is written.
function getModuleFormat(file: string, source: string): TransformedSource['format'] {
  const extension = extname(file)
  if (extension === '.mts') return 'module'
  if (extension === '.cts') return 'commonjs'
  if (findOwningPackage(file)?.data['type'] === 'module') return 'module'
  if (/^\s*(export\s*=|import\s+\w+\s*=\s*require\b)/m.test(source)) return 'commonjs'
  return /^\s*(import\b(?!\s*\()|export\b(?!\s*=))/m.test(source) ? 'module' : 'commonjs'
}

/** What running TypeScript needs to know. Plain data: it goes to the thread of the hooks. */
export type LoadSettings = {
  /** Where packages are looked for besides the module's own folder. */
  readonly folders: readonly string[]
  /** Where what was made of a file is kept; undefined: nowhere. */
  readonly cacheFolder: string | undefined
  /** Of this package. */
  readonly version: string
}
