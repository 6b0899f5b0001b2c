/** What each module of a program finds besides its imports. */
const OUTER = [
  '__toolable_require',
  '__toolable_load',
  '__filename',
  '__dirname',
  '__toolable_entry',
  '__toolable_inner',
]
/** What a chunk gets besides when it is loaded later. */
const INNER = [
  'require',
  'module',
  'exports',
  '__toolable_import',
  '__toolable_table',
  '__toolable_zod',
]

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

/** Puts a program together: a function of the file, its `require`, a function that gives a later chunk and one that imports by address, which settles when all modules are loaded; the later chunks follow it. */
export function wrap({ now, later, table, zod }: Parts): Script {
  const pieces = later.map(
    ([, body]) => `(function(${[...INNER, ...OUTER].join(',')}){"use strict";${body}\n})\n`,
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
    `__toolable_table=()=>${asciiString(table)},__toolable_places=${asciiString(`${places} `)},__toolable_made={__proto__:null};`,
    // Addresses, as node gives them; packages by the conditions of `require`, because node tells those of `import` to modules only.
    "function __toolable_resolve(name){const m=process.getBuiltinModule('node:module');if(/^\\.{0,2}\\//.test(name))return new URL(name,__toolable_inner.url).href;if(/^[a-z][\\w+.-]*:/i.test(name))return new URL(name).href;return m.isBuiltin(name)?`node:${name}`:process.getBuiltinModule('node:url').pathToFileURL(m.createRequire(__filename).resolve(name)).href}",
    'let __toolable_hot;function __toolable_give(hot){__toolable_hot=hot}',
    'function __toolable_chunk(name){',
    'let m=__toolable_made[name];if(m)return m.exports;',
    'const hot=__toolable_hot?.(name);if(hot)return(__toolable_made[name]={exports:hot}).exports;',
    "const at=__toolable_places.indexOf(' '+name+' ');if(at===-1)return __toolable_require(name);",
    "const [begin,end]=__toolable_places.slice(at+name.length+2).split(' ',2);",
    `m=__toolable_made[name]={exports:{}};__toolable_later(name,+begin,+end)(__toolable_chunk,m,m.exports,__toolable_import,__toolable_table,__toolable_zod,${OUTER.join(',')});`,
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

/** A text as JavaScript of ASCII characters only: others would make V8 read the whole script at two bytes a character. */
export function asciiString(text: string): string {
  return ascii(JSON.stringify(text))
}

/** JSON of ASCII characters only. */
export function ascii(json: string): string {
  return json.replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
