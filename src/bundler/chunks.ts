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
  const prepared = Object.entries(chunks).map(async ([name, code]) => {
    const text = await rewriteUrlImports(esbuild, rewriteLateImports(chunks, code))
    return [name, await escapeNonAscii(esbuild, text)] as const
  })
  const texts: ProgramChunks = Object.fromEntries(await Promise.all(prepared))
  const late = new Set(Object.values(chunks).flatMap(listLateImportedChunks))
  const bodies = new Map<string, Promise<string>>()
  const getBody = (name: string): Promise<string> =>
    bodies.get(name) ?? bodies.set(name, toFunctionBody(esbuild, texts[name]!)).get(name)!
  return async (hot, table) => {
    // A module exists once, so what hot chunks import is hot too.
    const together = collectReachable([START_CHUNK, ...hot], (name) =>
      listImportedChunks(texts[name] ?? ''),
    )
    const cold = Object.keys(texts).filter((name) => !together.has(name))
    const [now, later] = await Promise.all([
      joinChunks(esbuild, texts, renderChunkExports(texts, cold, late)),
      Promise.all(cold.map(async (name) => [name, await getBody(name)] as const)),
    ])
    return wrapScript(now, later, table)
  }
}

// `import()` of a chunk becomes a call to the program itself. Of a CommonJS package, node exports all
// names, and esbuild only the default, from which the others are taken.
function rewriteLateImports(chunks: ProgramChunks, code: string): string {
  return code.replace(LATE_IMPORT_PATTERN, (written, name: string) => {
    const target = chunks[name]
    if (target === undefined) return written
    return `__toolable_import(${JSON.stringify(name)}${isCommonJs(target) ? ',1' : ''})`
  })
}

const BEGIN_MARK = '__toolable_begin;'
const REQUIRED_IMPORT_PATTERN = /Promise\.resolve\(\)\.then\(\(\)=>__toESM\d*\(require\(/g

// `import()` with a computed address has to run in the file of the program: node 20 cannot import
// from a script with cached code. Without support for import(), esbuild writes a form that can be
// recognised.
async function rewriteUrlImports(esbuild: typeof Esbuild, text: string): Promise<string> {
  if (!/\bimport\(/.test(text)) return text
  const { code } = await esbuild.transform(BEGIN_MARK + text, {
    ...MINIFY_OPTIONS,
    format: 'esm',
    supported: { 'dynamic-import': false },
  })
  return code
    .slice(code.indexOf(BEGIN_MARK) + BEGIN_MARK.length)
    .replace(REQUIRED_IMPORT_PATTERN, 'Promise.resolve().then(()=>(__toolable_load(')
}

// esbuild leaves other characters in regular expressions, where an escape means the same, and in
// tagged templates, where it does not, so those are turned into calls first.
async function escapeNonAscii(esbuild: typeof Esbuild, text: string): Promise<string> {
  if (!/[^\u0000-\u007f]/.test(text)) return text
  const { code } = await esbuild.transform(text, {
    ...MINIFY_OPTIONS,
    format: 'esm',
    supported: { 'template-literal': false },
  })
  return escapeToAscii(code)
}

/** Collects what can be reached from some items, themselves included. */
export function collectReachable(
  from: readonly string[],
  listNext: (item: string) => readonly string[],
): ReadonlySet<string> {
  const found = new Set(from)
  // A set also iterates over what is added meanwhile.
  for (const item of found) for (const next of listNext(item)) found.add(next)
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

/**
 * Writes the script: a function of the file, its `require`, a loader of late chunks and one of URLs,
 * which settles when all modules are loaded; the late chunks follow it. `now` is what most calls
 * need, as code that may wait at its top level and passes what it exports to `__toolable_give`.
 * `later` has the bodies of functions of `require, module, exports`, by name. `table` is what is known
 * about the schemas.
 */
function wrapScript(
  now: string,
  later: readonly (readonly [name: string, body: string])[],
  table: string,
): ProgramScript {
  const pieces = later.map(
    ([, body]) =>
      `(function(${[...CHUNK_PARAMETERS, ...OUTER_PARAMETERS].join(',')}){"use strict";${body}\n})\n`,
  )
  let end = 0
  // A text, because building an object of hundreds of chunks to find one is slower.
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
    // URLs as node writes them; packages by the conditions of `require`, because only modules know
    // those of `import`.
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
    `function __toolable_zod(){return __toolable_chunk(${JSON.stringify(ZOD_CHUNK)})}`,
    // Node ends a module whose top-level await never settles with this status.
    "let __toolable_settled;process.once('beforeExit',()=>{__toolable_settled||(process.exitCode=13)});",
    // For a missing package, a stack would only hide its name.
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
