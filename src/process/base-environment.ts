export type Environment = { readonly [name: string]: string | undefined }

const WHO_AND_WHERE = [
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
const PROXIES = [
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
const CERTIFICATES = [
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'AWS_CA_BUNDLE',
  'DENO_CERT',
]
const WINDOWS = [
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
const FOR_CALLS = new Set([...WHO_AND_WHERE, ...PROXIES, ...CERTIFICATES, ...WINDOWS])
const FOR_CONFINED = new Set([
  'PATH',
  'USER',
  'LOGNAME',
  'USERNAME',
  'TERM',
  'TZ',
  'LANG',
  'LANGUAGE',
  ...WINDOWS.slice(0, 8),
])
const FOR_PROBES = new Set(['PATH', 'TZ', 'LANG', 'SYSTEMROOT', 'SystemRoot', 'PATHEXT', 'Path'])

/** The variables of the host that every called program gets: who and where we are, language, certificates and proxies. Everything else has to be asked for by name. */
export function baseEnvironment(host: Environment): { [name: string]: string } {
  return pick(
    host,
    (name) => FOR_CALLS.has(name) || name.startsWith('LC_') || name.startsWith('XDG_'),
  )
}

/** The variables of the host that a program in a sandbox gets: none that name files, sockets or proxies, which it would not reach. `home` is its home directory. */
export function confinedEnvironment(host: Environment, home: string): { [name: string]: string } {
  return {
    ...pick(host, (name) => FOR_CONFINED.has(name) || name.startsWith('LC_')),
    HOME: home,
    TMPDIR: '/tmp',
  }
}

/** The variables of the host that name certificates, each a file or a folder that has to be readable then. */
export function certificateVariables(host: Environment): { [name: string]: string } {
  return pick(host, (name) => CERTIFICATES.includes(name))
}

/** The few variables that a program gets when it is only asked what it is; the home directory is the empty folder `home`. */
export function probeEnvironment(host: Environment, home: string): { [name: string]: string } {
  return {
    ...pick(host, (name) => FOR_PROBES.has(name) || name.startsWith('LC_')),
    HOME: home,
    TMPDIR: home,
    TERM: 'dumb',
    NO_COLOR: '1',
    PYTHONDONTWRITEBYTECODE: '1',
  }
}

function pick(host: Environment, wanted: (name: string) => boolean): { [name: string]: string } {
  return Object.fromEntries(
    Object.entries(host).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && wanted(entry[0]),
    ),
  )
}
