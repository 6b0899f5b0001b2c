/**
 * Which variables of the host a child gets: for a call, in a sandbox, or while it is only probed.
 */

import { listWords } from '../util/text.ts'

export type HostEnv = { readonly [name: string]: string | undefined }

const CERTIFICATE_VARIABLES = listWords(`
  SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO
  AWS_CA_BUNDLE DENO_CERT`)
const WINDOWS_SYSTEM_VARIABLES = 'SYSTEMROOT SystemRoot WINDIR windir COMSPEC ComSpec PATHEXT Path'
const CALL_VARIABLES = new Set([
  ...listWords('PATH HOME USER LOGNAME SHELL TMPDIR TERM TZ LANG LANGUAGE'),
  ...listWords('HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY NODE_USE_ENV_PROXY'),
  ...listWords('http_proxy https_proxy all_proxy no_proxy'),
  ...CERTIFICATE_VARIABLES,
  ...listWords(`
    ${WINDOWS_SYSTEM_VARIABLES} TEMP TMP USERPROFILE USERNAME APPDATA LOCALAPPDATA
    PROGRAMDATA ProgramData PROGRAMFILES ProgramFiles`),
])
const SANDBOX_VARIABLES = new Set(
  listWords(`PATH USER LOGNAME USERNAME TERM TZ LANG LANGUAGE ${WINDOWS_SYSTEM_VARIABLES}`),
)
const PROBE_VARIABLES = new Set(listWords('PATH TZ LANG SYSTEMROOT SystemRoot PATHEXT Path'))

/**
 * The variables of the host that every called program gets: who and where we are, language,
 * certificates and proxies. A tool has to name every other variable it needs.
 */
export function buildCallEnv(host: HostEnv): { [name: string]: string } {
  return pickVariables(
    host,
    (name) => CALL_VARIABLES.has(name) || name.startsWith('LC_') || name.startsWith('XDG_'),
  )
}

/**
 * The variables of the host that a program in a sandbox gets: none that name files, sockets or
 * proxies, which it would not reach. `home` is its home directory.
 */
export function buildSandboxEnv(host: HostEnv, home: string): { [name: string]: string } {
  return {
    ...pickVariables(host, (name) => SANDBOX_VARIABLES.has(name) || name.startsWith('LC_')),
    HOME: home,
    TMPDIR: '/tmp',
  }
}

/** The variables of the host that name certificates: files and folders that must be readable. */
export function pickCertificateVariables(host: HostEnv): { [name: string]: string } {
  return pickVariables(host, (name) => CERTIFICATE_VARIABLES.includes(name))
}

/** The few variables that a program gets while it is probed. `home` is an empty folder. */
export function buildProbeEnv(host: HostEnv, home: string): { [name: string]: string } {
  return {
    ...pickVariables(host, (name) => PROBE_VARIABLES.has(name) || name.startsWith('LC_')),
    HOME: home,
    TMPDIR: home,
    TERM: 'dumb',
    NO_COLOR: '1',
    PYTHONDONTWRITEBYTECODE: '1',
  }
}

function pickVariables(
  host: HostEnv,
  wanted: (name: string) => boolean,
): { [name: string]: string } {
  return Object.fromEntries(
    Object.entries(host).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && wanted(entry[0]),
    ),
  )
}
