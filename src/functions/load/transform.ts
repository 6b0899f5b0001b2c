import { readFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import { readOwn, writeWhole } from '../../call/own-cache-file.ts'
import { hashText } from '../cache/manifest-cache.ts'
import { findPackageOf } from '../locate/package-of.ts'
import { findPackage } from './find-package.ts'
import type { LoadSettings } from './settings.ts'
import { findRunConfig } from './tsconfig.ts'

// Goes up with what is asked of esbuild and of the compiler.
const FORM = '2'

/** JavaScript that node can run, and how. */
export type Transformed = { readonly format: 'module' | 'commonjs'; readonly source: string }

/** Makes JavaScript of a TypeScript file: from the cache, else by esbuild, else by the compiler. Throws CONFIG where neither is there, and INVALID_INPUT, with file and line, for what is no TypeScript. `wanted` is how it will be run, where that is not left to the file. */
export function transformFile(
  file: string,
  { folders, cacheFolder, version }: LoadSettings,
  wanted?: Transformed['format'],
): Transformed {
  const source = readFileSync(file, 'utf8')
  const format = wanted ?? formatOf(file, source)
  const options = findRunConfig(dirname(file))?.options
  // One file for each source; its last line says what it was made of, and that it is whole.
  const kept =
    cacheFolder &&
    join(
      cacheFolder,
      `typescript-${basename(file)
        .replace(/[^A-Za-z0-9_-]/g, '_')
        .slice(0, 60)}-${hashText(file)}.js`,
    )
  const end = `\n// of ${hashText([FORM, version, format, options ? JSON.stringify(options) : '', source].join('\n'))}\n`
  const known = kept && readOwn(kept)
  if (known?.endsWith(end)) return { format, source: known }
  const made = `${transform({ file, source, format, options, folders: [dirname(file), ...folders] })}${end}`
  if (cacheFolder && kept) writeWhole(cacheFolder, kept, made)
  return { format, source: made }
}

type Job = {
  readonly file: string
  readonly source: string
  readonly format: Transformed['format']
  readonly options: { readonly [option: string]: unknown } | undefined
  readonly folders: readonly string[]
}

type Esbuild = { transformSync(source: string, options: object): { readonly code: string } }
type Diagnostic = {
  readonly start?: number
  readonly messageText: string | { readonly messageText: string }
}
type TypeScript = {
  transpileModule(
    source: string,
    options: object,
  ): { readonly outputText: string; readonly diagnostics?: readonly Diagnostic[] }
  readonly ModuleKind: { readonly [kind: string]: number }
  readonly ScriptTarget: { readonly [target: string]: number }
}

// Options of a project that change what code means; all others are ours to say.
const EMITTED = [
  'experimentalDecorators',
  'emitDecoratorMetadata',
  'useDefineForClassFields',
  'verbatimModuleSyntax',
]

function transform(job: Job): string {
  const esbuild = findPackage('esbuild', job.folders)
  if (esbuild) return byEsbuild(esbuild.load() as Esbuild, job)
  const compiler = findPackage('typescript', job.folders)
  if (compiler) return byCompiler(compiler.load() as TypeScript, job)
  throw new ToolError(
    'CONFIG',
    `running ${job.file} on this version of node needs the package esbuild or typescript, and neither is installed`,
    { suggestion: 'npm install --save-dev esbuild' },
  )
}

function byEsbuild(esbuild: Esbuild, { file, source, format, options }: Job): string {
  try {
    return esbuild.transformSync(source, {
      loader: 'ts',
      format: format === 'module' ? 'esm' : 'cjs',
      sourcefile: file,
      sourcemap: 'inline',
      platform: 'node',
      target: 'node20.19',
      logLevel: 'silent',
      ...(options && { tsconfigRaw: { compilerOptions: options } }),
    }).code
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
    throw brokenSyntax(file, first.location?.line ?? 1, first.text)
  }
}

function byCompiler(ts: TypeScript, { file, source, format, options }: Job): string {
  const kept = Object.fromEntries(
    Object.entries(options ?? {}).filter(([name]) => EMITTED.includes(name)),
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
  throw brokenSyntax(
    file,
    source.slice(0, first.start ?? 0).split('\n').length,
    typeof first.messageText === 'string' ? first.messageText : first.messageText.messageText,
  )
}

function brokenSyntax(file: string, line: number, text: string): ToolError {
  return new ToolError('INVALID_INPUT', `${file}:${line}: ${text}`, {
    suggestion: 'Correct the syntax of the module',
    details: { source: file, line },
  })
}

// As node decides it: by the ending, by the package, and where neither says, by what is written.
function formatOf(file: string, source: string): Transformed['format'] {
  const extension = extname(file)
  if (extension === '.mts') return 'module'
  if (extension === '.cts') return 'commonjs'
  if (findPackageOf(file)?.data['type'] === 'module') return 'module'
  if (/^\s*(export\s*=|import\s+\w+\s*=\s*require\b)/m.test(source)) return 'commonjs'
  return /^\s*(import\b(?!\s*\()|export\b(?!\s*=))/m.test(source) ? 'module' : 'commonjs'
}
