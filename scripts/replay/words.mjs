/** Splits a command line into words: quotes and backslashes as in a shell, nothing else. */
export function splitWords(line) {
  const words = []
  const pattern = /\s*((?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+)/gsy
  for (let match; (match = pattern.exec(line));) words.push(unquote(match[1]))
  return words
}

function unquote(word) {
  return word.replace(
    /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/gs,
    (_all, single, double, escaped) => single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped,
  )
}
