/**
 * Which variables of the host a child gets: for a call, in a sandbox, or while it is only probed.
 */

export type HostEnv = { readonly [name: string]: string | undefined }

const IDENTITY_VARIABLES = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TMPDIR',
  'TERM',
  'TZ',
  'LANG',
  'LANGUAGE',
]
const PROXY_VARIABLES = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
  'NODE_USE_ENV_PROXY',
]
const CERTIFICATE_VARIABLES = [
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'AWS_CA_BUNDLE',
  'DENO_CERT',
]
const WINDOWS_VARIABLES = [
  'SYSTEMROOT',
  'SystemRoot',
  'WINDIR',
  'windir',
  'COMSPEC',
  'ComSpec',
  'PATHEXT',
  'Path',
  'TEMP',
  'TMP',
  'USERPROFILE',
  'USERNAME',
  'APPDATA',
  'LOCALAPPDATA',
  'PROGRAMDATA',
  'ProgramData',
  'PROGRAMFILES',
  'ProgramFiles',
]
const CALL_VARIABLES = new Set([
  ...IDENTITY_VARIABLES,
  ...PROXY_VARIABLES,
  ...CERTIFICATE_VARIABLES,
  ...WINDOWS_VARIABLES,
])
const SANDBOX_VARIABLES = new Set([
  'PATH',
  'USER',
  'LOGNAME',
  'USERNAME',
  'TERM',
  'TZ',
  'LANG',
  'LANGUAGE',
  ...WINDOWS_VARIABLES.slice(0, 8),
])
const PROBE_VARIABLES = new Set([
  'PATH',
  'TZ',
  'LANG',
  'SYSTEMROOT',
  'SystemRoot',
  'PATHEXT',
  'Path',
])

/**
 * The variables of the host that every called program gets: who and where we are, language,
 * certificates and proxies. Everything else has to be asked for by name.
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

/**
 * The variables of the host that name certificates, each a file or a folder that has to be readable
 * then.
 */
export function pickCertificateVariables(host: HostEnv): { [name: string]: string } {
  return pickVariables(host, (name) => CERTIFICATE_VARIABLES.includes(name))
}

/**
 * The few variables that a program gets when it is only asked what it is; the home directory is the
 * empty folder `home`.
 */
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
