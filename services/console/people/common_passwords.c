/*
 * common_passwords.c: the words that guessers try first
 *
 * They are in small letters. With digits and signs around them, or repeated, they make the passwords that stand at the top of every
 * published list of stolen ones; of these, password.c refuses those of twelve characters and more.
 */
#include "services/console/people/password.h"

const char *const passwords_common[] = { "password", "passwort", "passw0rd", "p@ssw0rd", "p@ssword", "pa55word", "pass",
	"passcode", "passphrase", "letmein", "letmeinnow", "welcome", "willkommen", "bienvenue", "bienvenido", "qwerty",
	"qwertz", "azerty", "qwertyuiop", "qwertzuiop", "azertyuiop", "qwertyqwerty", "asdf", "asdfgh", "asdfghjkl",
	"zxcvbn", "zxcvbnm", "1q2w3e", "1q2w3e4r", "1q2w3e4r5t", "1q2w3e4r5t6y", "q1w2e3r4", "q1w2e3r4t5y6", "1qaz2wsx",
	"1qaz2wsx3edc", "zaq12wsx", "zaq1xsw2", "abc123", "abcabc", "abcd", "abcd1234", "a1b2c3", "a1b2c3d4",
	"a1b2c3d4e5f6", "abcdef", "abcdefgh", "abcdefg", "123abc", "123qwe", "qwe123", "123456", "1234567", "12345678",
	"123456789", "1234567890", "123123", "121212", "112233", "11223344", "112233445566", "654321", "987654321",
	"0987654321", "147258369", "123321", "666666", "696969", "111111", "000000", "555555", "777777", "888888",
	"999999", "102030", "010203", "admin", "administrator", "admin123", "root", "toor", "user", "guest", "test",
	"testtest", "tester", "testing", "demo", "default", "changeme", "change", "changeit", "secret", "geheim",
	"secreto", "segreto", "geheimnis", "master", "login", "access", "iloveyou", "iloveu", "ichliebedich", "jetaime",
	"teamo", "tequiero", "tiamo", "loveyou", "lovely", "love", "lover", "princess", "prinzessin", "princesa",
	"princesse", "sunshine", "sonnenschein", "sonne", "flower", "blume", "flowers", "schatz", "schatzi", "liebe",
	"liebling", "monkey", "dragon", "tiger", "lion", "panther", "eagle", "falcon", "wolf", "bear", "shadow",
	"phoenix", "pokemon", "pikachu", "naruto", "starwars", "batman", "superman", "spiderman", "ironman", "matrix",
	"gandalf", "merlin", "harrypotter", "hogwarts", "football", "fussball", "soccer", "baseball", "basketball",
	"hockey", "tennis", "golf", "liverpool", "arsenal", "chelsea", "barcelona", "realmadrid", "juventus", "bayern",
	"dortmund", "schalke", "michael", "michelle", "daniel", "jessica", "jennifer", "jordan", "andrew", "ashley",
	"amanda", "anthony", "charlie", "thomas", "robert", "matthew", "nicole", "samantha", "hannah", "george",
	"maggie", "joshua", "ginger", "pepper", "buster", "summer", "winter", "spring", "autumn", "fruehling", "sommer",
	"herbst", "january", "february", "march", "april", "august", "september", "october", "november", "december",
	"montag", "monday", "friday", "freitag", "hello", "hellohello", "hallo", "hallohallo", "hola", "bonjour",
	"ciao", "servus", "whatever", "trustno1", "freedom", "money", "cheese", "cookie", "chocolate", "schokolade",
	"banana", "orange", "apple", "computer", "internet", "samsung", "google", "facebook", "amazon", "microsoft",
	"windows", "linux", "mustang", "ferrari", "porsche", "mercedes", "yamaha", "harley", "killer", "hunter",
	"ranger", "soldier", "batista", "america", "deutschland", "germany", "berlin", "hamburg", "muenchen", "london",
	"paris", "france", "espana", "italia", "polska", "correcthorsebatterystaple", "correct", "horse", "battery",
	"staple", "thisisapassword", "thisismypassword", "mypassword", "mypasswort", "meinpasswort", "meinkennwort",
	"kennwort", "motdepasse", "contrasena", "contraseña", "haslo", "senha", "wachtwoord", "losenord", "lösenord",
	"parola", "sifre", "opensesame", "blink182", "nothing", "biteme", "fuckyou", "fuckoff", "asshole", "bitch",
	"cunt", "arschloch", "scheisse", "hurensohn", "shop", "shopify", "store", "webshop", "onlineshop",
	"woocommerce", "bigcommerce", "magento", "adobe", "ecommerce", "sales", "marketing", "newsletter", "support",
	"info", "service", "office", "company", "firma", "business", "checkout", "basket", "warenkorb", NULL };
