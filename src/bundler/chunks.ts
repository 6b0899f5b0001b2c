/**
 * Joins the chunks of a bundle into the script of a program: what most calls need becomes one piece
 * of code, the other chunks follow as functions that are loaded on demand.
 */

import type * as Esbuild from 'esbuild'
import { ToolError } from '../protocol/tool-error.ts'

/** The ES modules that a program was cut into, by the name by which they import each other. */
export type ProgramChunks = { readonly [name: string]: string }

/**
 * Makes the script of a program: the chunks that are `hot` become one piece of code, the others
 * stay apart.
 */
export type AssembleScript = (hot: Iterable<string>, table: string) => Promise<ProgramScript>

const MINIFY_OPTIONS = {
  platform: 'node',
  target: 'node20.19',
  minifyWhitespace: true,
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'silent',
} as const

/**
 * Prepares chunks for being put together, as often as needed. What it gives throws CONFIG for a
 * module that waits at its top and is loaded late.
 */
export async function prepareChunks(
  esbuild: typeof Esbuild,
  chunks: ProgramChunks,
): Promise<AssembleScript> {
  const texts = await escapeNonAscii(
    esbuild,
    await rewriteUrlImports(esbuild, rewriteLateImports(chunks)),
  )
  const late = new Set(Object.values(chunks).flatMap(listLateImportedChunks))
  const bodies = new Map<string, Promise<string>>()
  const bodyOf = (name: string): Promise<string> =>
    bodies.get(name) ?? bodies.set(name, toFunctionBody(esbuild, texts[name]!)).get(name)!
  return async (hot, table) => {
    const together = collectImports(texts, [START_CHUNK, ...hot])
    const cold = Object.keys(texts).filter((name) => !together.has(name))
    const [now, later] = await Promise.all([
      joinChunks(esbuild, texts, renderChunkExports(texts, cold, late)),
      Promise.all(cold.map(async (name) => [name, await bodyOf(name)] as const)),
    ])
    return wrapScript({ now, later, table, zod: ZOD_CHUNK })
  }
}

// `import()` of a chunk becomes a question to the program itself. A package of CommonJS gives all
// its names to node, and esbuild only its default: the others are taken from that.
function rewriteLateImports(chunks: ProgramChunks): ProgramChunks {
  const ask = (name: string): string | undefined =>
    chunks[name] === undefined
      ? undefined
      : `__toolable_import(${JSON.stringify(name)}${isCommonJs(chunks[name]) ? ',1' : ''})`
  return Object.fromEntries(
    Object.entries(chunks).map(([name, code]) => [name, replaceLateImports(code, ask)]),
  )
}

const BEGIN_MARK = '__toolable_begin;'
const REQUIRED_IMPORT_PATTERN = /Promise\.resolve\(\)\.then\(\(\)=>__toESM\d*\(require\(/g

// What is imported by an address that nobody knows yet is imported by the file of the program: of a
// script that came out of compiled code node 20 does not know how. For somebody who knows no
// import() esbuild writes a form that can be told apart.
async function rewriteUrlImports(
  esbuild: typeof Esbuild,
  texts: ProgramChunks,
): Promise<ProgramChunks> {
  return Object.fromEntries(
    await Promise.all(
      Object.entries(texts).map(async ([name, text]) => {
        if (!/\bimport\(/.test(text)) return [name, text]
        const { code } = await esbuild.transform(BEGIN_MARK + text, {
          ...MINIFY_OPTIONS,
          format: 'esm',
          supported: { 'dynamic-import': false },
        })
        return [
          name,
          code
            .slice(code.indexOf(BEGIN_MARK) + BEGIN_MARK.length)
            .replace(REQUIRED_IMPORT_PATTERN, 'Promise.resolve().then(()=>(__toolable_load('),
        ]
      }),
    ),
  )
}

// Two places are left where esbuild writes other characters: regular expressions, where an escape
// means the same, and tagged templates, where it does not, so that these are made calls before.
async function escapeNonAscii(
  esbuild: typeof Esbuild,
  texts: ProgramChunks,
): Promise<ProgramChunks> {
  return Object.fromEntries(
    await Promise.all(
      Object.entries(texts).map(async ([name, text]) => {
        if (!/[^\u0000-\u007f]/.test(text)) return [name, text]
        return [
          name,
          escapeToAscii(
            (
              await esbuild.transform(text, {
                ...MINIFY_OPTIONS,
                format: 'esm',
                supported: { 'template-literal': false },
              })
            ).code,
          ),
        ]
      }),
    ),
  )
}

// A module exists once: what the hot chunks import is in the same piece of code.
function collectImports(texts: ProgramChunks, names: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (name: string): void => {
    if (found.has(name) || texts[name] === undefined) return
    found.add(name)
    for (const other of listImportedChunks(texts[name])) visit(other)
  }
  names.forEach(visit)
  return found
}

// Code of one scope costs least to start: no wrappers, no tables of exports. What the other chunks
// take from it is given to them when the first of them asks.
async function joinChunks(
  esbuild: typeof Esbuild,
  texts: ProgramChunks,
  giving: string,
): Promise<string> {
  const { outputFiles } = await esbuild.build({
    ...MINIFY_OPTIONS,
    bundle: true,
    write: false,
    format: 'esm',
    outfile: 'program.js',
    stdin: { contents: "import'./toolable-give.js';import'./start.js'", resolveDir: '/' },
    plugins: [
      {
        name: 'toolable-join',
        setup(build) {
          build.onResolve({ filter: /.*/ }, ({ path }) => ({ path, namespace: 'chunk' }))
          build.onLoad({ filter: /.*/, namespace: 'chunk' }, ({ path }) => ({
            contents: path === './toolable-give.js' ? giving : texts[path]!,
          }))
        },
      },
    ],
  })
  return outputFiles[0]!.text
}

function renderChunkExports(
  texts: ProgramChunks,
  cold: readonly string[],
  late: ReadonlySet<string>,
): string {
  const isCold = new Set(cold)
  const asked = new Map<string, Set<string>>()
  for (const { from, names } of cold.flatMap((name) => listImportedNames(texts[name]!)))
    asked.set(from, new Set([...(asked.get(from) ?? []), ...names]))
  let count = 0
  const cases = Object.keys(texts)
    .filter((name) => name !== START_CHUNK && !isCold.has(name))
    .map((name) => {
      const names = late.has(name) ? listExportedNames(texts[name]!) : [...(asked.get(name) ?? [])]
      const locals = names.map((each) => ({ each, local: `h${count++}` }))
      return {
        imports:
          locals.length === 0
            ? ''
            : `import{${locals.map(({ each, local }) => `${each} as ${local}`).join(',')}}from${JSON.stringify(name)};`,
        label: `case${JSON.stringify(name)}:return{__proto__:{__esModule:true},${locals.map(({ each, local }) => `get ${each}(){return ${local}}`).join(',')}};`,
      }
    })
  return `${cases.map(({ imports }) => imports).join('')}__toolable_give(name=>{switch(name){${cases.map(({ label }) => label).join('')}}})`
}

async function toFunctionBody(esbuild: typeof Esbuild, code: string): Promise<string> {
  try {
    return (await esbuild.transform(code, { ...MINIFY_OPTIONS, format: 'cjs' })).code.replace(
      /^"use strict";/,
      '',
    )
  } catch (error) {
    if (!String((error as Error).message).includes('Top-level await')) throw error
    throw new ToolError(
      'CONFIG',
      'a module of the program waits at its top (await outside of a function) and is loaded by an import() besides',
      {
        suggestion: 'Move the await into a function, or import the module at the top of the entry',
      },
    )
  }
}

/** What each module of a program finds besides its imports. */
const OUTER_PARAMETERS = [
  '__toolable_require',
  '__toolable_load',
  '__filename',
  '__dirname',
  '__toolable_entry',
  '__toolable_inner',
]
/** What a chunk gets besides when it is loaded later. */
const CHUNK_PARAMETERS = [
  'require',
  'module',
  'exports',
  '__toolable_import',
  '__toolable_table',
  '__toolable_zod',
]

/**
 * The script of a program: everything up to `length` is loaded at its start, the rest piece by
 * piece.
 */
export type ProgramScript = { readonly text: string; readonly length: number }

type ScriptParts = {
  /**
   * What most calls need, as code that may wait at its top and tells by `__toolable_give` what the
   * others find in it.
   */
  readonly now: string
  /** The bodies of functions of `require, module, exports`, by name. */
  readonly later: readonly (readonly [name: string, body: string])[]
  /** What is known about the schemas of the program. */
  readonly table: string
  /** The chunk that is zod itself. */
  readonly zod: string
}

/**
 * Puts a program together: a function of the file, its `require`, a function that gives a later
 * chunk and one that imports by address, which settles when all modules are loaded; the later
 * chunks follow it.
 */
function wrapScript({ now, later, table, zod }: ScriptParts): ProgramScript {
  const pieces = later.map(
    ([, body]) =>
      `(function(${[...CHUNK_PARAMETERS, ...OUTER_PARAMETERS].join(',')}){"use strict";${body}\n})\n`,
  )
  let end = 0
  // A text, because a table of hundreds of chunks would be made for the sake of one.
  const places = later
    .map(([name], index) => ` ${name} ${end} ${(end += pieces[index]!.length)}`)
    .join('')
  const text = [
    '(function(__filename,__toolable_require,__toolable_later,__toolable_load){"use strict";const require=__toolable_require;',
    "globalThis[Symbol.for('toolable.built')]??={verified:true};",
    "const __dirname=__filename.slice(0,Math.max(__filename.lastIndexOf('/'),__filename.lastIndexOf('\\\\'))),",
    "__toolable_inner={get url(){return process.getBuiltinModule('node:url').pathToFileURL(__filename).href},filename:__filename,dirname:__dirname,resolve:name=>__toolable_resolve(name),built:true,main:false},",
    '__toolable_entry={__proto__:__toolable_inner,main:true},',
    `__toolable_table=()=>${toAsciiString(table)},__toolable_places=${toAsciiString(`${places} `)},__toolable_made={__proto__:null};`,
    // Addresses, as node gives them; packages by the conditions of `require`, because node tells
    // those of `import` to modules only.
    "function __toolable_resolve(name){const m=process.getBuiltinModule('node:module');if(/^\\.{0,2}\\//.test(name))return new URL(name,__toolable_inner.url).href;if(/^[a-z][\\w+.-]*:/i.test(name))return new URL(name).href;return m.isBuiltin(name)?`node:${name}`:process.getBuiltinModule('node:url').pathToFileURL(m.createRequire(__filename).resolve(name)).href}",
    'let __toolable_hot;function __toolable_give(hot){__toolable_hot=hot}',
    'function __toolable_chunk(name){',
    'let m=__toolable_made[name];if(m)return m.exports;',
    'const hot=__toolable_hot?.(name);if(hot)return(__toolable_made[name]={exports:hot}).exports;',
    "const at=__toolable_places.indexOf(' '+name+' ');if(at===-1)return __toolable_require(name);",
    "const [begin,end]=__toolable_places.slice(at+name.length+2).split(' ',2);",
    `m=__toolable_made[name]={exports:{}};__toolable_later(name,+begin,+end)(__toolable_chunk,m,m.exports,__toolable_import,__toolable_table,__toolable_zod,${OUTER_PARAMETERS.join(',')});`,
    'return m.exports}',
    'function __toolable_import(name,named){return Promise.resolve().then(()=>{const found=__toolable_chunk(name);return named?{__proto__:null,...found.default,default:found.default}:found})}',
    `function __toolable_zod(){return __toolable_chunk(${JSON.stringify(zod)})}`,
    // As node ends a module that waits for something that never happens.
    "let __toolable_settled;process.once('beforeExit',()=>{__toolable_settled||(process.exitCode=13)});",
    // A package that is missing is no fault of the code: a stack would only hide its name.
    "function __toolable_failed(e){if(!e?.outside||globalThis[Symbol.for('toolable.built')].take)throw e;console.error(`${__filename}: ${e.message}`);process.exit(69)}",
    `return(async()=>{\n${now}\n__toolable_settled=true})().catch(__toolable_failed)})\n`,
  ].join('')
  return { text: text + pieces.join(''), length: text.length }
}

/**
 * A text as JavaScript of ASCII characters only: others would make V8 read the whole script at two
 * bytes a character.
 */
function toAsciiString(text: string): string {
  return escapeToAscii(JSON.stringify(text))
}

/** JSON of ASCII characters only. */
export function escapeToAscii(json: string): string {
  return json.replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

// As esbuild writes a chunk: its imports of other chunks first, its exports last.
const IMPORT_HEAD_PATTERN = /^(?:import(?:\{[^}]*\}from)?"\.\/[^"]+";\s*)*/
const IMPORT_PATTERN = /import(?:\{([^}]*)\}from)?"(\.\/[^"]+)";/g
const LATE_IMPORT_PATTERN = /\bimport\("(\.\/[^"]+)"\)/g
const EXPORT_PATTERN = /export\{([^}]*)\};?\s*$/

/** The chunks that a chunk imports. */
export function listImportedChunks(code: string): string[] {
  return [...matchImports(code)].map(([, , name]) => name!)
}

/** The chunks that a chunk imports when it needs them. */
export function listLateImportedChunks(code: string): string[] {
  return [...code.matchAll(LATE_IMPORT_PATTERN)].map(([, name]) => name!)
}

/** The code with every `import()` of a chunk replaced. */
function replaceLateImports(code: string, replace: (name: string) => string | undefined): string {
  return code.replace(LATE_IMPORT_PATTERN, (written, name: string) => replace(name) ?? written)
}

/** The names that a chunk imports from others, as these call them. */
function listImportedNames(
  code: string,
): readonly { readonly from: string; readonly names: readonly string[] }[] {
  return [...matchImports(code)].map(([, names, from]) => ({
    from: from!,
    names: splitNames(names).map(([outer]) => outer),
  }))
}

/** True for a chunk that is a package of CommonJS. */
function isCommonJs(code: string): boolean {
  return /export default require_[\w$]+\(\);?\s*$/.test(code)
}

/** The names that a chunk exports. */
function listExportedNames(code: string): string[] {
  return isCommonJs(code)
    ? ['default']
    : splitNames(EXPORT_PATTERN.exec(code)?.[1]).map(([local, outer]) => outer ?? local)
}

function matchImports(code: string): Iterable<RegExpMatchArray> {
  const [head] = IMPORT_HEAD_PATTERN.exec(code) as [string]
  return head.matchAll(IMPORT_PATTERN)
}

function splitNames(names: string | undefined): [string, string?][] {
  return (names ?? '')
    .split(',')
    .filter((name) => name.trim() !== '')
    .map((name) => name.trim().split(/\s+as\s+/) as [string, string?])
}

/** The chunk that starts a program. */
export const START_CHUNK = './start.js'
/** The chunk that is zod itself, where records stand in its place. */
export const ZOD_CHUNK = './zod.js'
