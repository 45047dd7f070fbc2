/* Rust's std takes its random bytes from ProcessPrng in bcryptprimitives.dll, which Wine 8.0 lacks: a program then ends
   with status 53 before it starts. For tests only; on Windows the system's own is there. */
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size)
{
    while (size) {
        ULONG part = size > 0x10000 ? 0x10000 : (ULONG)size;
        if (!RtlGenRandom(data, part))
            return FALSE;
        data += part;
        size -= part;
    }
    return TRUE;
}
