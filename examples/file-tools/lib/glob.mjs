const TOKENS = /\*\*\/|\*\*|\*|\?|\[[^\]/]+\]|\{[^{}/]+\}|[^]/g

/**
 * A test for relative paths: `*.js` looks at the file name, a pattern with a slash at the whole
 * path. Knows `* ** ? [a-z] {js,ts}`.
 */
export function matcher(pattern) {
  const whole = pattern.includes('/')
  const expression = new RegExp(`^${translate(pattern)}$`)
  return (path) => expression.test(whole ? path : path.slice(path.lastIndexOf('/') + 1))
}

function translate(pattern) {
  return pattern.replace(TOKENS, (token) => {
    if (token === '**/') return '(?:.*/)?'
    if (token === '**') return '.*'
    if (token === '*') return '[^/]*'
    if (token === '?') return '[^/]'
    if (token.length > 1 && token.startsWith('['))
      return token.replace('[!', '[^').replaceAll('\\', '\\\\')
    if (token.length > 1 && token.startsWith('{'))
      return `(?:${token.slice(1, -1).split(',').map(translate).join('|')})`
    return token.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')
  })
}
