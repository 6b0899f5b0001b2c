import { ToolError } from '../contract/tool-error.ts'

type Environment = { readonly [name: string]: string | undefined }

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g

/** Replaces `${NAME}` and `${NAME:-default}` by what the host's environment says; throws CONFIG, naming `what`, for a variable that is not set and has no default. */
export function expandVariables(text: string, env: Environment, what: string): string {
  return text.replace(VARIABLE, (_whole, name: string, byDefault: string | undefined) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    // An empty variable takes the default too, as in a shell.
    if (value !== undefined && (value !== '' || byDefault === undefined)) return value
    if (byDefault !== undefined) return byDefault
    throw new ToolError('CONFIG', `${what} needs the variable ${name}, which is not set`, {
      suggestion: `export ${name}=..., or write \${${name}:-default} in the configuration`,
    })
  })
}

/** The same for each value of an object of texts. */
export function expandValues(
  values: { readonly [name: string]: string } | undefined,
  env: Environment,
  what: string,
): { readonly [name: string]: string } {
  const expanded: { [name: string]: string } = Object.create(null) as {}
  for (const [name, value] of Object.entries(values ?? {})) {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      throw new ToolError('CONFIG', `'${name}' of ${what} must be a text`)
    expanded[name] = expandVariables(String(value), env, `'${name}' of ${what}`)
  }
  return expanded
}
