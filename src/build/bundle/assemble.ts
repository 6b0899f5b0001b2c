import type * as Esbuild from 'esbuild'
import { ToolError } from '../../contract/tool-error.ts'
import { ascii, wrap } from '../launch/wrap.ts'
import type { Script } from '../launch/wrap.ts'
import { START, ZOD } from './chunk-names.ts'
import {
  chunksImported,
  chunksImportedLate,
  isCommonJs,
  namesExported,
  namesImported,
  replaceLateImports,
} from './read-chunk.ts'

/** The ES modules that a program was cut into, by the name by which they import each other. */
export type Chunks = { readonly [name: string]: string }

/** Makes the script of a program: the chunks that are `hot` become one piece of code, the others stay apart. */
export type Assemble = (hot: Iterable<string>, table: string) => Promise<Script>

const SMALL = {
  platform: 'node',
  target: 'node20.19',
  minifyWhitespace: true,
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'silent',
} as const

/** Prepares chunks for being put together, as often as needed. What it gives throws CONFIG for a module that waits at its top and is loaded late. */
export async function prepareChunks(esbuild: typeof Esbuild, chunks: Chunks): Promise<Assemble> {
  const texts = await asciiOnly(esbuild, await importsByAddress(esbuild, lateImports(chunks)))
  const late = new Set(Object.values(chunks).flatMap(chunksImportedLate))
  const bodies = new Map<string, Promise<string>>()
  const bodyOf = (name: string): Promise<string> =>
    bodies.get(name) ?? bodies.set(name, toFunctionBody(esbuild, texts[name]!)).get(name)!
  return async (hot, table) => {
    const together = withImports(texts, [START, ...hot])
    const cold = Object.keys(texts).filter((name) => !together.has(name))
    const [now, later] = await Promise.all([
      join(esbuild, texts, writeGiving(texts, cold, late)),
      Promise.all(cold.map(async (name) => [name, await bodyOf(name)] as const)),
    ])
    return wrap({ now, later, table, zod: ZOD })
  }
}

// `import()` of a chunk becomes a question to the program itself. A package of CommonJS gives all its names to node, and esbuild only its default: the others are taken from that.
function lateImports(chunks: Chunks): Chunks {
  const ask = (name: string): string | undefined =>
    chunks[name] === undefined
      ? undefined
      : `__toolable_import(${JSON.stringify(name)}${isCommonJs(chunks[name]) ? ',1' : ''})`
  return Object.fromEntries(
    Object.entries(chunks).map(([name, code]) => [name, replaceLateImports(code, ask)]),
  )
}

const BEGIN = '__toolable_begin;'
const REQUIRED = /Promise\.resolve\(\)\.then\(\(\)=>__toESM\d*\(require\(/g

// What is imported by an address that nobody knows yet is imported by the file of the program: of a script that came out of compiled code node 20 does not know how. For somebody who knows no import() esbuild writes a form that can be told apart.
async function importsByAddress(esbuild: typeof Esbuild, texts: Chunks): Promise<Chunks> {
  return Object.fromEntries(
    await Promise.all(
      Object.entries(texts).map(async ([name, text]) => {
        if (!/\bimport\(/.test(text)) return [name, text]
        const { code } = await esbuild.transform(BEGIN + text, {
          ...SMALL,
          format: 'esm',
          supported: { 'dynamic-import': false },
        })
        return [
          name,
          code
            .slice(code.indexOf(BEGIN) + BEGIN.length)
            .replace(REQUIRED, 'Promise.resolve().then(()=>(__toolable_load('),
        ]
      }),
    ),
  )
}

// Two places are left where esbuild writes other characters: regular expressions, where an escape means the same, and tagged templates, where it does not, so that these are made calls before.
async function asciiOnly(esbuild: typeof Esbuild, texts: Chunks): Promise<Chunks> {
  return Object.fromEntries(
    await Promise.all(
      Object.entries(texts).map(async ([name, text]) => {
        if (!/[^\u0000-\u007f]/.test(text)) return [name, text]
        return [
          name,
          ascii(
            (
              await esbuild.transform(text, {
                ...SMALL,
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
function withImports(texts: Chunks, names: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (name: string): void => {
    if (found.has(name) || texts[name] === undefined) return
    found.add(name)
    for (const other of chunksImported(texts[name])) visit(other)
  }
  names.forEach(visit)
  return found
}

// Code of one scope costs least to start: no wrappers, no tables of exports. What the other chunks take from it is given to them when the first of them asks.
async function join(esbuild: typeof Esbuild, texts: Chunks, giving: string): Promise<string> {
  const { outputFiles } = await esbuild.build({
    ...SMALL,
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

function writeGiving(texts: Chunks, cold: readonly string[], late: ReadonlySet<string>): string {
  const isCold = new Set(cold)
  const asked = new Map<string, Set<string>>()
  for (const { from, names } of cold.flatMap((name) => namesImported(texts[name]!)))
    asked.set(from, new Set([...(asked.get(from) ?? []), ...names]))
  let count = 0
  const cases = Object.keys(texts)
    .filter((name) => name !== START && !isCold.has(name))
    .map((name) => {
      const names = late.has(name) ? namesExported(texts[name]!) : [...(asked.get(name) ?? [])]
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
    return (await esbuild.transform(code, { ...SMALL, format: 'cjs' })).code.replace(
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
