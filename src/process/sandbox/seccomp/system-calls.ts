/** The machines that programs are written for. */
export type Machine = 'x64' | 'arm64'

/** As the kernel names a machine in what it shows to a filter. */
export const AUDIT_NAMES: { readonly [machine in Machine]: number } = {
  x64: 0xc000003e,
  arm64: 0xc00000b7,
}

type Numbers = readonly [x64: number | undefined, arm64: number | undefined]

/** What no tool needs: other namespaces, mounts, memory of others, and the corners of the kernel where its faults were found. */
const FORBIDDEN: { readonly [call: string]: Numbers } = {
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  process_madvise: [440, 440],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  open_by_handle_at: [304, 265],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  create_module: [174, undefined],
  query_module: [178, undefined],
  get_kernel_syms: [177, undefined],
  acct: [163, 89],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  syslog: [103, 116],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  vhangup: [153, 58],
  nfsservctl: [180, 42],
  lookup_dcookie: [212, 18],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  modify_ldt: [154, undefined],
  uselib: [134, undefined],
  sysctl: [156, undefined],
}

/** What programs can do without when it is not there: processes whose namespaces hide behind a pointer, and memory that belongs to no process, which nobody could count: files without a name, and what processes share by keys. */
const ABSENT: { readonly [call: string]: Numbers } = {
  clone3: [435, 435],
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  shmget: [29, 194],
  semget: [64, 190],
  msgget: [68, 186],
}

/** Calls that depend on their arguments. */
const ASKED: { readonly [call in 'clone' | 'socket' | 'ioctl' | 'personality']: Numbers } = {
  clone: [56, 220],
  socket: [41, 198],
  ioctl: [16, 29],
  personality: [135, 92],
}

/** The numbers of all of them on a machine. */
export function systemCallsOf(machine: Machine): {
  readonly forbidden: readonly number[]
  readonly absent: readonly number[]
  readonly asked: { readonly [call in keyof typeof ASKED]: number }
} {
  const at = machine === 'x64' ? 0 : 1
  const numbers = (calls: { readonly [call: string]: Numbers }): number[] =>
    Object.values(calls).flatMap((pair) => pair[at] ?? [])
  return {
    forbidden: numbers(FORBIDDEN),
    absent: numbers(ABSENT),
    asked: {
      clone: ASKED.clone[at]!,
      socket: ASKED.socket[at]!,
      ioctl: ASKED.ioctl[at]!,
      personality: ASKED.personality[at]!,
    },
  }
}
