// The programs that the tests run, and the Debian packages that bring them.
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * What the tests need from the machine: shells for the tests of completion and of built programs,
 * tmux and python3 for the terminal tests, groff and man for manual pages, bubblewrap and prlimit
 * for the sandbox, strace, unshare and mount for disks that fail, programs whose help is read, and
 * a browser for the dashboard.
 */
export const systemPackages = [
  { binary: 'bash', debian: 'bash' },
  { binary: 'zsh', debian: 'zsh' },
  { binary: 'fish', debian: 'fish' },
  { binary: 'busybox', debian: 'busybox' },
  { binary: 'tmux', debian: 'tmux' },
  { binary: 'python3', debian: 'python3' },
  { binary: 'groff', debian: 'groff-base' },
  { binary: 'man', debian: 'man-db' },
  { binary: 'bwrap', debian: 'bubblewrap' },
  { binary: 'prlimit', debian: 'util-linux' },
  { binary: 'strace', debian: 'strace' },
  { binary: 'unshare', debian: 'util-linux' },
  { binary: 'mount', debian: 'mount' },
  { binary: 'git', debian: 'git' },
  { binary: 'curl', debian: 'curl' },
  { binary: 'jq', debian: 'jq' },
  { binary: 'openssl', debian: 'openssl' },
  { binary: 'rsync', debian: 'rsync' },
  { binary: 'ssh', debian: 'openssh-client' },
  { binary: 'chromium-headless-shell', debian: 'chromium-headless-shell' },
]

/**
 * Installs what is missing with apt-get as root; anywhere else it throws an error that names the
 * command to run.
 */
export function ensureSystemPackages() {
  const missing = listMissing()
  if (missing.length === 0) return
  const names = missing.map(({ debian }) => debian)
  const command = `apt-get install -y ${names.join(' ')}`
  if (process.getuid?.() !== 0 || !isOnPath('apt-get')) {
    throw new Error(
      `The tests need ${missing.map(({ binary }) => binary).join(', ')}. Install them:\n  sudo ${command}`,
    )
  }
  console.error(`setup: ${command}`)
  runAptGet(['update', '-qq'])
  runAptGet(['install', '-y', '-qq', '--no-install-recommends', ...names])
  const still = listMissing()
  if (still.length > 0)
    throw new Error(
      `apt-get could not install ${still.map(({ debian }) => debian).join(', ')}. Try:\n  ${command}`,
    )
}

function listMissing() {
  return systemPackages.filter(({ binary }) => !isOnPath(binary))
}

function isOnPath(binary) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, binary), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

function runAptGet(argv) {
  // A failed update is not the end: the lists on the machine may be good enough, and the check
  // afterwards decides.
  spawnSync('apt-get', argv, {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
}
