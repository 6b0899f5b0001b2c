const YAML = new Set(['.yaml', '.yml', '.YAML', '.YML'])
const TYPESCRIPT = new Set(['.ts', '.mts', '.cts', '.tsx'])

/** What follows the last dot of a file's name, the dot included; empty where there is none. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot <= 0 || name.indexOf('/', dot) !== -1 ? '' : name.slice(dot)
}

/** A file's name without its extension. */
export function stemOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? name : name.slice(0, dot)
}

/** True for the extension of a file that may be a manifest. */
export function isYaml(extension: string): boolean {
  return YAML.has(extension)
}

/** True for TypeScript that has code. */
export function isTypeScript(name: string): boolean {
  return TYPESCRIPT.has(extensionOf(name)) && !/\.d\.[cm]?ts$/.test(name)
}
