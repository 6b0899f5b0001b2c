/** The parameters of the function that a bundle becomes; `launch` hands them in. */
const PARAMETERS = ['require', '__toolable_require', '__filename', '__dirname', '__toolable_entry', '__toolable_inner']

/** A bundle as one script: an async function, because its modules may wait at their top. `table` is what is known about its schemas. */
export function wrapBundle(code: string, table: string): string {
  return `(async function(${PARAMETERS.join(',')}){"use strict";const __toolable_table=()=>${asciiString(table)};\n${code}\n})`
}

/** The source map of a bundle after it was wrapped: one line lower. */
export function moveMap(map: string): string {
  const read = JSON.parse(map) as { readonly mappings: string }
  return JSON.stringify({ ...read, mappings: `;${read.mappings}` })
}

/** A text as JavaScript of ASCII characters only: others would make V8 read the whole script at two bytes a character. */
export function asciiString(text: string): string {
  return ascii(JSON.stringify(text))
}

/** JSON of ASCII characters only. */
export function ascii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
