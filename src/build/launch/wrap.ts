/** What the script of a program gets from `launch`, in this order. */
const OUTER = ['__toolable_require', '__filename', '__dirname', '__toolable_entry', '__toolable_inner']
/** What a chunk gets besides when it is loaded later. */
const INNER = ['require', 'module', 'exports', '__toolable_import', '__toolable_table', '__toolable_zod']

/** The script of a program: everything up to `length` is loaded at its start, the rest piece by piece. */
export type Script = { readonly text: string; readonly length: number }

export type Parts = {
  /** What most calls need, as code that may wait at its top and tells by `__toolable_give` what the others find in it. */
  readonly now: string
  /** The bodies of functions of `require, module, exports`, by name. */
  readonly later: readonly (readonly [name: string, body: string])[]
  /** What is known about the schemas of the program. */
  readonly table: string
  /** The chunk that is zod itself. */
  readonly zod: string
}

/** Puts a program together: an async function of `OUTER` and of a function that gives a later chunk; the later chunks follow it. */
export function wrap({ now, later, table, zod }: Parts): Script {
  const pieces = later.map(([, body]) => `(function(${[...INNER, ...OUTER].join(',')}){"use strict";${body}\n})\n`)
  let end = 0
  const places = later.map(([name], index) => `${JSON.stringify(name)}:[${end},${(end += pieces[index]!.length)}]`)
  const text = [
    `(async function(${OUTER.join(',')},__toolable_later){"use strict";const require=__toolable_require;`,
    `const __toolable_table=()=>${asciiString(table)};`,
    `let __toolable_hot;function __toolable_give(hot){__toolable_hot=hot}`,
    `const __toolable_places=()=>({${places.join(',')}}),__toolable_made={__proto__:null};let __toolable_where;`,
    'function __toolable_chunk(name){',
    'let m=__toolable_made[name];if(m)return m.exports;',
    'const place=(__toolable_where??=__toolable_places())[name];',
    'if(!place){const exports=__toolable_hot?.(name);return exports?(__toolable_made[name]={exports}).exports:__toolable_require(name)}',
    `m=__toolable_made[name]={exports:{}};__toolable_later(name,place[0],place[1])(__toolable_chunk,m,m.exports,__toolable_import,__toolable_table,__toolable_zod,${OUTER.join(',')});`,
    'return m.exports}',
    'function __toolable_import(name,named){return Promise.resolve().then(()=>{const found=__toolable_chunk(name);return named?{__proto__:null,...found.default,default:found.default}:found})}',
    `function __toolable_zod(){return __toolable_chunk(${JSON.stringify(zod)})}`,
    `\n${now}\n})\n`,
  ].join('')
  return { text: text + pieces.join(''), length: text.length }
}

/** A text as JavaScript of ASCII characters only: others would make V8 read the whole script at two bytes a character. */
export function asciiString(text: string): string {
  return ascii(JSON.stringify(text))
}

/** JSON of ASCII characters only. */
export function ascii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
