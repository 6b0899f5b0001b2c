export declare const clientsFolder: string
export declare const newerNode: string
export declare function plainEnvironment(extra?: { readonly [name: string]: string }): {
  [name: string]: string
}
