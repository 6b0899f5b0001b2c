import { resolve } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import { SHORTEST_SECRET } from '../../process/redaction/variants.ts'
import { readSecretFile } from './read-secret-file.ts'

const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/

export type SecretSources = {
  /** Values that came by stdin; their file is called `-`. */
  readonly given?: { readonly [name: string]: string }
  /** What relative paths mean. */
  readonly cwd: string
  /** Names that the tool may have; default all. */
  readonly allowed?: readonly string[]
}

/**
 * Reads secrets from files, without the line feed at their end. Throws PERMISSION for a name that the tool may not have and for a file that is not ours alone
 * (mode 0600 or stricter, our own, no link), INVALID_PATH where there is none, CONFIG for a name or a value that cannot be a secret.
 */
export async function loadSecrets(
  files: { readonly [name: string]: string },
  { given = {}, cwd, allowed }: SecretSources,
): Promise<Map<string, string>> {
  const secrets = new Map<string, string>()
  const variables = new Map<string, string>()
  for (const [name, file] of [
    ...Object.entries(files),
    ...Object.keys(given)
      .filter((name) => !Object.hasOwn(files, name))
      .map((name) => [name, '-'] as const),
  ]) {
    checkName(name, allowed)
    const twin = variables.get(variableOf(name))
    if (twin !== undefined)
      throw new ToolError(
        'CONFIG',
        `the secrets '${twin}' and '${name}' would both be ${variableOf(name)}`,
        { suggestion: 'Give one of them another name' },
      )
    variables.set(variableOf(name), name)
    secrets.set(
      name,
      checkValue(
        name,
        file === '-'
          ? takeGiven(name, given)
          : await readSecretFile(`the secret '${name}'`, resolve(cwd, file), 'secret-file'),
      ),
    )
  }
  return secrets
}

/** The variable that names the file of a secret to the tool. */
export function variableOf(name: string): string {
  return `${name.toUpperCase().replace(/[.-]/g, '_')}_FILE`
}

function checkName(name: string, allowed: readonly string[] | undefined): void {
  if (!NAME.test(name))
    throw new ToolError('CONFIG', `'${name}' cannot be the name of a secret`, {
      suggestion: 'Use letters, digits, _, . and -, with a letter in front, 64 at most',
    })
  if (allowed && !allowed.includes(name))
    throw new ToolError(
      'PERMISSION',
      `the manifest of the tool does not ask for the secret '${name}'`,
      {
        suggestion:
          allowed.length > 0
            ? `It asks for ${allowed.join(', ')}`
            : `Add it to the manifest: permissions: { secrets: [${name}] }`,
      },
    )
}

function takeGiven(name: string, given: { readonly [name: string]: string }): string {
  if (!Object.hasOwn(given, name))
    throw new ToolError('CONFIG', `nobody gave the secret '${name}' by stdin`, {
      suggestion: `Give it again, or keep it in a file: --secret-file ${name}=./${name}`,
    })
  return given[name]!
}

function checkValue(name: string, value: string): string {
  const secret = value.replace(/\r?\n$/, '')
  if (secret.includes('\0'))
    throw new ToolError('CONFIG', `the secret '${name}' is not text`, {
      suggestion: 'Keep it as base64, and let the tool decode it',
    })
  if (secret.trim().length < SHORTEST_SECRET)
    throw new ToolError(
      'CONFIG',
      `the secret '${name}' has less than ${SHORTEST_SECRET} characters: it could not be kept out of logs without hiding half of them`,
      { suggestion: 'Use a longer secret' },
    )
  return secret
}
