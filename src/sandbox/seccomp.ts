/**
 * The seccomp filter of every sandbox, written as BPF instructions.
 */

const BPF_LOAD = 0x20
const BPF_JUMP_EQUAL = 0x15
const BPF_JUMP_AT_LEAST = 0x35
const BPF_JUMP_BITS = 0x45
const BPF_RETURN = 0x06

const SECCOMP_ALLOW = 0x7fff0000
const SECCOMP_KILL = 0x80000000
const SECCOMP_ERRNO = 0x00050000
const RETURN_EPERM = SECCOMP_ERRNO | 1
const RETURN_ENOSYS = SECCOMP_ERRNO | 38
const RETURN_EAFNOSUPPORT = SECCOMP_ERRNO | 97

/** Offsets of the call number, the architecture and the lower halves of the arguments. */
const OFFSET_SYSCALL = 0
const OFFSET_ARCH = 4
const offsetOfArgument = (index: number): number => 16 + 8 * index

/** The x32 calls of x64, which would bypass a filter. */
const FIRST_X32_SYSCALL = 0x40000000
const CLONE_NAMESPACE_FLAGS = 0x7e020000
/** Requests that put input into a terminal as if it were typed. */
const TERMINAL_INPUT_IOCTLS = [0x5412, 0x541c]
const AF_UNIX = 1
const AF_INET = 2
const AF_INET6 = 10
const AF_NETLINK = 16
const ALLOWED_PERSONALITIES = [0x0, 0x8, 0x20000, 0x20008, 0xffffffff]

type BpfInstruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number]

const loadWord = (offset: number): BpfInstruction => [BPF_LOAD, 0, 0, offset]
const returnResult = (answer: number): BpfInstruction => [BPF_RETURN, 0, 0, answer]
const ifEqual = (value: number, then: readonly BpfInstruction[]): BpfInstruction[] => [
  [BPF_JUMP_EQUAL, 0, then.length, value],
  ...then,
]

const encodedPrograms = new Map<SeccompArchitecture, Buffer>()

/** Returns the filter for `--seccomp` of bubblewrap, or undefined for unknown architectures. */
export function getSeccompProgram(machine: string): Buffer | undefined {
  if (machine !== 'x64' && machine !== 'arm64') return undefined
  const program = encodedPrograms.get(machine) ?? encodeInstructions(buildInstructions(machine))
  encodedPrograms.set(machine, program)
  return program
}

function buildInstructions(machine: SeccompArchitecture): BpfInstruction[] {
  const at = machine === 'x64' ? 0 : 1
  const listNumbers = (calls: { readonly [call: string]: SyscallNumbers }): number[] =>
    Object.values(calls).flatMap((numbers) => numbers[at] ?? [])
  const [clone, socket, ioctl, personality] = listNumbers(CHECKED_SYSCALLS) as [
    number,
    number,
    number,
    number,
  ]
  return [
    loadWord(OFFSET_ARCH),
    [BPF_JUMP_EQUAL, 1, 0, AUDIT_ARCHITECTURES[machine]],
    returnResult(SECCOMP_KILL),
    loadWord(OFFSET_SYSCALL),
    [BPF_JUMP_AT_LEAST, 0, 1, FIRST_X32_SYSCALL],
    returnResult(SECCOMP_KILL),
    ...listNumbers(FORBIDDEN_SYSCALLS).flatMap((call) =>
      ifEqual(call, [returnResult(RETURN_EPERM)]),
    ),
    ...listNumbers(ABSENT_SYSCALLS).flatMap((call) => ifEqual(call, [returnResult(RETURN_ENOSYS)])),
    ...ifEqual(clone, [
      loadWord(offsetOfArgument(0)),
      [BPF_JUMP_BITS, 0, 1, CLONE_NAMESPACE_FLAGS],
      returnResult(RETURN_EPERM),
      returnResult(SECCOMP_ALLOW),
    ]),
    ...ifEqual(ioctl, [
      loadWord(offsetOfArgument(1)),
      ...TERMINAL_INPUT_IOCTLS.flatMap((request) => ifEqual(request, [returnResult(RETURN_EPERM)])),
      returnResult(SECCOMP_ALLOW),
    ]),
    ...ifEqual(personality, [
      loadWord(offsetOfArgument(0)),
      ...ALLOWED_PERSONALITIES.flatMap((value) => ifEqual(value, [returnResult(SECCOMP_ALLOW)])),
      returnResult(RETURN_EPERM),
    ]),
    ...ifEqual(socket, [
      loadWord(offsetOfArgument(0)),
      ...[AF_UNIX, AF_INET, AF_INET6].flatMap((family) =>
        ifEqual(family, [returnResult(SECCOMP_ALLOW)]),
      ),
      // Of netlink only the first protocol, which lists the addresses of this machine.
      ...ifEqual(AF_NETLINK, [
        loadWord(offsetOfArgument(2)),
        ...ifEqual(0, [returnResult(SECCOMP_ALLOW)]),
      ]),
      returnResult(RETURN_EAFNOSUPPORT),
    ]),
    returnResult(SECCOMP_ALLOW),
  ]
}

function encodeInstructions(instructions: readonly BpfInstruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * 8)
  instructions.forEach(([code, ifTrue, ifFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(ifTrue, index * 8 + 2)
    bytes.writeUInt8(ifFalse, index * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4)
  })
  return bytes
}

/** The supported architectures. */
type SeccompArchitecture = 'x64' | 'arm64'

/** The names of the architectures in a filter. */
const AUDIT_ARCHITECTURES: { readonly [machine in SeccompArchitecture]: number } = {
  x64: 0xc000003e,
  arm64: 0xc00000b7,
}

type SyscallNumbers = readonly [x64: number | undefined, arm64: number | undefined]

/** Calls that no tool needs: namespaces, mounts, memory of other processes, and risky corners of the kernel. */
const FORBIDDEN_SYSCALLS: { readonly [call: string]: SyscallNumbers } = {
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

/**
 * Calls that programs can do without: clone3, whose flags a filter cannot see, and memory that belongs
 * to no process and cannot be measured.
 */
const ABSENT_SYSCALLS: { readonly [call: string]: SyscallNumbers } = {
  clone3: [435, 435],
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  shmget: [29, 194],
  semget: [64, 190],
  msgget: [68, 186],
}

/** Calls that depend on their arguments. */
const CHECKED_SYSCALLS: { readonly [call: string]: SyscallNumbers } = {
  clone: [56, 220],
  socket: [41, 198],
  ioctl: [16, 29],
  personality: [135, 92],
}
