/* nkey.c - the public key of a seed, as NATS writes both. */
/* SPDX-License-Identifier: MIT */
/*
    A key is base32 of a letter that says whose it is, 32 bytes, and a CRC-16; a
    seed has an S in front of that letter. libnats signs with a seed, and wants
    to be told the public key that belongs to it, which the server knows.
*/
#include "fleet.h"

#include <openssl/evp.h>
#include <string.h>

enum {
    SEED_TEXT = 58, /* characters */
    SEED_BYTES = 36,
    KEY_BYTES = 32,
    SEED_PREFIX = 18 << 3 /* S */
};
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/* CRC-16/XMODEM */
static unsigned crc(const unsigned char *bytes, size_t size)
{
    unsigned sum = 0;
    while (size--) {
        sum ^= (unsigned)*bytes++ << 8;
        for (int i = 0; i < 8; i++)
            sum = (sum << 1 ^ (sum & 0x8000 ? 0x1021 : 0)) & 0xffff;
    }
    return sum;
}

static bool base32_read(unsigned char *to, const char *text, size_t size)
{
    unsigned bits = 0, count = 0;
    while (size--) {
        const char *digit = strchr(digits, *text++);
        if (!digit || !*digit)
            return false;
        bits = (bits << 5 | (unsigned)(digit - digits)) & 0xffff;
        count += 5;
        if (count >= 8)
            *to++ = (unsigned char)(bits >> (count -= 8));
    }
    return true;
}

static void base32_write(char *to, const unsigned char *bytes, size_t size)
{
    unsigned bits = 0, count = 0;
    while (size--) {
        bits = (bits << 8 | *bytes++) & 0xffff;
        for (count += 8; count >= 5;)
            *to++ = digits[bits >> (count -= 5) & 31];
    }
    if (count)
        *to++ = digits[bits << (5 - count) & 31];
    *to = '\0';
}

/* Reads the first line of a file that is a seed. */
static bool seed_read(unsigned char seed[SEED_BYTES], const char *path)
{
    char line[256];
    bool found = false;
    FILE *from = fopen(path, "re");
    while (from && !found && fgets(line, sizeof line, from)) {
        line[strcspn(line, "\r\n \t")] = '\0';
        found = strlen(line) == SEED_TEXT &&
                base32_read(seed, line, SEED_TEXT) &&
                (seed[0] & 0xf8) == SEED_PREFIX &&
                crc(seed, SEED_BYTES - 2) ==
                    ((unsigned)seed[34] | (unsigned)seed[35] << 8);
    }
    if (from)
        fclose(from);
    memset(line, 0, sizeof line);
    return found;
}

const char *nkey_public(char to[NKEY_SIZE], const char *path)
{
    unsigned char seed[SEED_BYTES + 1], key[KEY_BYTES + 3];
    size_t size = KEY_BYTES;
    unsigned sum;
    EVP_PKEY *pair;
    bool done;
    if (!seed_read(seed, path))
        return "has no line that is the seed of a key (SU...)";
    key[0] = (unsigned char)((seed[0] & 7) << 5 | seed[1] >> 3);
    pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed + 2,
                                        KEY_BYTES);
    done = pair && EVP_PKEY_get_raw_public_key(pair, key + 1, &size) == 1;
    EVP_PKEY_free(pair);
    OPENSSL_cleanse(seed, sizeof seed);
    if (!done)
        return "is no key of Ed25519";
    sum = crc(key, KEY_BYTES + 1);
    key[KEY_BYTES + 1] = (unsigned char)sum;
    key[KEY_BYTES + 2] = (unsigned char)(sum >> 8);
    base32_write(to, key, sizeof key);
    return NULL;
}
